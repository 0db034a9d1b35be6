"""From what a person types to the memories that answer it."""
