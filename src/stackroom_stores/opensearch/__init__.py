"""
Knowledge bases in collections of OpenSearch Serverless, which we search ourselves.

    opensearch_adapter -> index_layout (the index's mapping, read once), opensearch_filters,
    collection (signed calls)

Vectors and words come from an index of anybody's making; `index_layout.creation` has the body of
one that suits.
"""
