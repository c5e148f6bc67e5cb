"""
Bedrock Knowledge Bases, S3 Vectors, Titan embeddings and Textract's OCR on this machine.

It speaks the AWS wire protocols, so boto3 talks to it unchanged (`endpoint_url`). It really
parses, chunks, embeds and searches, and it keeps AWS's limits, states and error texts: each is a
rule with its source in `rules`. It fails when it is told to (`faults`).

    wire        reads a request by the service models, and answers what is mounted, too
    dispatcher  rates, the model's constraints, faults; then the operation:
        bedrock-agent           knowledge_bases, data_sources (connectors, of managed ones),
                                ingestion_jobs, document_records, direct
        bedrock-agent-runtime   passage_search
        bedrock-runtime         converse, of converse_requests, spoken by scripts, model_endpoint
                                or stand_in; models (Titan); screening (ApplyGuardrail)
        bedrock                 guardrails, models
        s3vectors               vector_indexes, vector_items
        textract                textract, whose wire is rpc_protocol
    assembly    puts the parts together; assumptions has what AWS leaves open

A document's way: ingestion_jobs -> synchronisation, or direct -> indexing -> parsing (another
process; a third one has ocr) -> ingestion_settings -> chunk_strategies, embedder -> vectors.
Which embedder, embedding_models knows: MiniLM, or that of multilingual (e5_graph); where it is
another than before, re_embedding comes first. kept_vectors keeps what it made, if it is told to.
A search's: metadata_filters and metadata say which vectors count, memory_indexes which are near,
text_search (SQLite's FTS5) which have the words.

Importing this is free; `server` has `create_app`, and `Simulator` for tests.
"""
