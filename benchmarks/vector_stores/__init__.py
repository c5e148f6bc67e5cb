"""
Five stores with the same passages in them: what our own code adds to each, and how it starts.

    make bench-stores                                 the product's adapters beside the bare clients
    make bench-stores ARGS="--passages 300 --questions 40"     smaller, for a try

- chunks: the passages with their vectors, as they lie in an index of S3 Vectors
- filled: a store that holds them, by the product's adapter and by the bare client
- bedrock, opensearch, postgresql: how each comes to hold them; stand_in: the process of a simulator
- speed, starts, __main__: one question after the other and many at once, a cold start, and all told

All stores run on this machine. What is measured of them is what our code does beside their clients,
not how fast a store is: no network lies between, and the stand-ins compare all vectors one by one
(but PostgreSQL, which is one).
"""
