"""Causal systems as programs, each with a NumPy reference of its own and the class of each state."""

from . import fast_weights, levels, moments, scans, shifts, solvers
from .system import SYSTEMS
