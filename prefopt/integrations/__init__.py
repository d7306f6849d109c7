"""Other people's tools: each module needs the extra of its name."""
