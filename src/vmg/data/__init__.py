"""Data: `Episodes`, and a reader for each format."""
