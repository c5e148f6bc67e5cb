"""
The state machine, as its source: `make asl` writes from it the JSON that deploys.

`ingest_catalog` says which state follows on which, `states` what all states of a kind share, the
backoff among it, and `generate` writes the file.
"""
