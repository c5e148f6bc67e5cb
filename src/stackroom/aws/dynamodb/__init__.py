"""Records in the two tables."""
