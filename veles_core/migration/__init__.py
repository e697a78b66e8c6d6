"""Changing the embedding model while the memory serves."""
