"""
The records of catalogs, documents and usage, and the ports by which use cases reach them.

- records: catalogs, documents, receipts, data sources
- keys, formats: where an object belongs, read from its key; what a file may be
- catalog_counts: a catalog's counts of its documents
- repositories, bucket: the ports of the records and of the objects
- attributes: the types of documents' attributes
- passages, filters: the port of whatever is searched, what it answers, and how it is narrowed
- usage, prices, caps, questions: what users have used, what that costs, and how much they may use
"""
