"""How memories cool and warm."""
