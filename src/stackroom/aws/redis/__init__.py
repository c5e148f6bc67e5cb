"""Questions' vectors in Valkey or Redis."""
