"""Causal systems as programs, each with a NumPy reference of its own and the class of each state."""

from . import moments, scans
from .system import SYSTEMS
