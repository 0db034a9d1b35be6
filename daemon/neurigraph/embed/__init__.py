"""Text to vectors, one small class an embedder."""
