"""Repetitions of policy against simulated person."""
