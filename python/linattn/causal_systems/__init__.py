"""Causal systems as programs, each with a NumPy reference of its own and its states' classes."""

from . import fast_weights, levels, moments, scans, shifts, solvers
from .system import SYSTEMS
