"""
An owner asks that a document, or a whole catalog, be deleted.

The object goes at once, and with it all that its event would set off; a receipt tells when no
search finds the document any more. A catalog is emptied key by key, with its records.

Imports uploads and runs. Comes from: people and tools. Goes to: the bucket, the plans of uploads,
and the runs that take documents out of the index.
"""
