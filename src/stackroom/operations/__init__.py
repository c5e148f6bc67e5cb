"""
What an operator sees of a deployment: what waits and why, the pool, failures, receipts, figures.

- overview: all of it at one moment, each part by itself, so that one that fails costs no other
- backlog: what of the catalogs has yet to settle, and what failed
- pool: who holds the slots, who is at work and who waits

Reads as much as a page takes, never all there is. Imports ingestion (how far a document is), ports.
Comes from: the console's page, and `stackroom status --pool`.
"""
