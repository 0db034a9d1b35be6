"""`python -m neurigraph` is the command line."""

from neurigraph.cli import main

if __name__ == "__main__":
    main()
