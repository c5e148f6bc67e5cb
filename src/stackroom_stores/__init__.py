"""Stores of knowledge bases that agents are linked to: an adapter, filters and an entry each."""
