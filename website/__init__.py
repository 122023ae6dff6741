"""The documentation site and the playground: `make site`, or `python -m website`. Nothing of it is in the package."""
