"""What developers measure of the code itself: `make structure` and `make check`."""
