"""Conversations from elsewhere, one file a format."""
