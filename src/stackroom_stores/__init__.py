"""Stores of linked knowledge bases: each has an adapter, filters and an entry with its settings."""
