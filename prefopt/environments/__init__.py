"""Simulated people."""
