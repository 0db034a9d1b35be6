"""The notes on disk: their format, their names, and the only writer."""
