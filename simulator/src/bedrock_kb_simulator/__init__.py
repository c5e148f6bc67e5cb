"""
Bedrock Knowledge Bases, S3 Vectors, Titan embeddings and Textract's OCR on this machine.

It speaks the AWS wire protocols, so boto3 talks to it unchanged (`endpoint_url`). It really
parses, chunks, embeds and searches, and it keeps AWS's limits, states and error texts: each is a
rule with its source in `rules`. It can inject faults on request (`faults`).

    wire        reads requests by the service models; also serves what is mounted
    dispatcher  checks rates and the model's constraints, injects faults, calls the operation:
        bedrock-agent           knowledge_bases, data_sources (connectors, of managed ones),
                                ingestion_jobs, document_records, direct_ingestion
        bedrock-agent-runtime   passage_search
        bedrock-runtime         converse and converse_requests, answered by scripts,
                                model_endpoint or stand_in; models (Titan); screening
                                (ApplyGuardrail)
        bedrock                 guardrails
        s3vectors               vector_indexes, vector_items
        textract                textract, whose protocol is json_protocol
    assembly    puts the parts together; assumptions lists what AWS leaves open

A document's path: ingestion_jobs -> synchronisation, or direct_ingestion -> indexing -> parsing (in
a child process; ocr runs in another) -> ingestion_settings -> chunk_strategies, embedder ->
vectors. embedding_models chooses the embedder: MiniLM, or that of multilingual (e5_graph). After a
change of embedder, re_embedding runs first. vector_cache keeps vectors if configured. A search's
path: metadata_filters and metadata select vectors, memory_indexes finds the nearest, text_search
(SQLite's FTS5) those with the words.

Importing this package loads nothing; `server` has `create_app`, and `Simulator` for tests.
"""
