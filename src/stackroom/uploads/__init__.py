"""
Bring the record of a document in step with its object after an event.

- reconcile: handles one key, from reading to the last write
- plan: works out, without I/O, what the state of a key requires, and a removal's receipt
- descriptions: the content of a document's record and sidecar

Imports model and access. functions/upload_handler, deletions and the reconciler use it. It writes
records, sidecars and receipts; its caller requests the catalog's run.
"""
