"""
What an owner does with catalogs: make one, list them, send files into them, fetch files back.

- creation, listing, selection: catalogs themselves
- sending, fetching: their files, by the call itself or by a link
- progress: how far each document is

Imports uploads (what a document may be called, and carry), ingestion (estimates), ports.
Comes from: the catalog tools. Deleting is the package deletions; asking is the package retrieval.
"""
