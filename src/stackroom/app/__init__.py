"""
Builders, which compose use cases over what is deployed, and the settings of functions.

- deployment: what all builders share, catalogs and the bucket
- document_builder: documents, inspections and requests for runs
- upload_builder: documents, what follows from uploaded files, and deletions
- pool_builder: the pool's knowledge bases, for searches and runs
- run_builder: the tasks of a run, and what follows one that broke
- reconciler_builder: runs, and the reconciler
- search_builder: retrieval and answers
- tool_builder: all catalog tools

A function imports the builder that it needs and pays for no other (`make bench-cold`). An
adapter or use case is made when it is first asked for. What one function alone needs, its handler
makes.
"""
