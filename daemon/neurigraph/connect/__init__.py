"""Writes the entry for this memory into the configurations of AI clients."""
