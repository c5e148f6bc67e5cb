"""
What is kept of files and catalogs, and whom a use case asks for it.

- model: the records: catalogs, documents, receipts, data sources
- keys, formats: where an object belongs, read from its key; what a file may be
- catalog_counts: what a catalog counts of its documents
- repositories, bucket: the ports of the records and of the objects
- attributes: the types of documents' attributes
- passages, filters: the port of whatever is searched, what it answers, and how it is narrowed
"""
