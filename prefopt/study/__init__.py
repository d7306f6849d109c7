"""A real experiment with a person."""
