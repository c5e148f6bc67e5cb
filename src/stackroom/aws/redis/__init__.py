"""A cache of questions' vectors in Valkey or Redis."""
