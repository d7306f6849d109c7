"""Gaussian-process policies: one algorithm a file."""
