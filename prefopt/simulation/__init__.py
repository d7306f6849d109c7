"""Repetitions of a policy against a simulated person."""

from prefopt.simulation.results import Results
from prefopt.simulation.run import simulate

__all__ = ["Results", "simulate"]
