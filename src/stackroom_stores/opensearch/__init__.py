"""
Knowledge bases in collections of OpenSearch Serverless, searched directly.

    opensearch_adapter -> index_layout (the index's mapping, read once), opensearch_filters,
    collection (signed calls)

Any index with vectors and texts will do; `index_layout.creation` has the body of a suitable one.
"""
