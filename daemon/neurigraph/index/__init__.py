"""What is derived from the vault to answer quickly; all of it can be rebuilt."""
