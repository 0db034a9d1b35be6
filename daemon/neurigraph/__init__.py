"""Neurigraph Hyperthyme: a personal memory for AI conversations, kept as plain notes."""

__version__ = "0.1.0"
