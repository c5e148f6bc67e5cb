"""
Knowledge bases in collections of OpenSearch Serverless, which we search ourselves.

    knowledge_base -> layout (the index's mapping, read once), queries (what is asked), hits (what
    is answered), collection (signed calls)

Vectors and words come from an index of anybody's making; `layout.creation` has the body of one
that suits.
"""
