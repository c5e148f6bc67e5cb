"""
An owner asks that a document, or a whole catalog, be deleted.

- deletions: the object goes at once, and with it all that its event would set off; a receipt tells
  when no search finds the document any more
- emptying: all that lies in a catalog, and its records, key by key

Imports uploads and runs. Comes from: people and tools. Goes to: the bucket, the plans of uploads,
and the runs that take documents out of the index.
"""
