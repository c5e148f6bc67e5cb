"""
An object's event, brought to its record: what lies under a key now, and what follows from it.

- events: what S3 tells, through EventBridge and SQS; a hint, never believed
- reconcile: one key, from the look at it to the last write
- plan: what a look asks for, worked out without touching anything
- receipts: of removals, from the record alone
- descriptions: what is written of a document, in its record and its sidecar

Imports documents and access. Comes from: SQS (functions/upload_handler), deletions, the reconciler.
Goes to: the records, the sidecars, the receipts, and a run for the catalog, which whoever called
asks for.
"""
