"""Gaussian-process models and how they are conditioned on comparisons."""
