"""The content of each summary."""
