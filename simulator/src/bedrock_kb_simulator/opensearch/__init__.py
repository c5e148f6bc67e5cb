"""
Collections of OpenSearch Serverless on this machine, at `/aoss/<collection id>/`.

    front -> signatures, collections (who may do what) -> faults
          -> indexes (mappings, documents) -> searches -> dsl -> words

It checks what a client can get wrong: the signature, the data access policy, the form of a query.
It ranks every document by its exact distance, so it says nothing of how near an approximate
search comes. Scripts, aggregations, search pipelines and hybrid queries are not simulated.
"""
