"""Latent utilities with a Gaussian-process prior, learned from duels, choices, rankings and ties."""
