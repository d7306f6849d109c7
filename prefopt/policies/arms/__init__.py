"""Independent arms: one algorithm a file."""
