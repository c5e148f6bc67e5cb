"""Measurements of the code itself, for `make structure` and `make check`."""
