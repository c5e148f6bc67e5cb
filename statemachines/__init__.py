"""
The state machine's source, from which `make asl` writes the JSON that deploys.

`ingest_catalog` defines the order of the states, `states` what states of a kind share, such as the
backoff, and `generate` writes the file.
"""
