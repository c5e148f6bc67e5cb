"""
Bedrock Knowledge Bases, S3 Vectors and Titan embeddings on this machine.

It speaks the AWS wire protocols, so boto3 talks to it unchanged (`endpoint_url`). It really
parses, chunks, embeds and searches, and it keeps AWS's limits, states and error texts: each is a
rule with its source in `rules`. It fails when it is told to (`faults`).

    wire -> reading, which operation a request means
         -> dispatch -> faults
                     -> knowledge_bases, data_sources, ingestion_jobs,
                        documents, direct                              bedrock-agent
                        guardrails                                           bedrock
                        retrieval, generation, reranking       bedrock-agent-runtime
                        conversation, models, guardrail_application      bedrock-runtime
                        opensearch.collections            opensearchserverless
                        vector_buckets, vector_indexes,
                        vector_items, vector_queries                       s3vectors
         -> opensearch.front -> faults, and a part of OpenSearch's own API
    retrieval, generation, conversation -> screening, by words and topics of a guardrail
    conversation -> requests (tools), speaking -> scripts, model_endpoint or stand_in
    knowledge_bases -> knowledge_base_configurations; data_sources -> source_configurations
                      -> connectors, of managed knowledge bases; retrieval -> managed_search
    knowledge_bases, guardrails, vector_buckets, opensearch.collections -> tags; tagging
    quotas -> rates; assumptions, of what AWS leaves open and an option turns round
    vector_queries -> vector_filters, vector_ranking -> memory_indexes, text_search (SQLite's FTS5)
    generation -> extraction, or prompts -> model_endpoint -> citing
    ingestion_jobs -> job_runs -> synchronisation -> indexing
                      -> drafts -> parsing (another process; a third one has ocr)
                      -> vector_ingestion -> chunk_strategies, embedding, vectors

Importing this is free; `server` has `create_app`, and `Simulator` for tests.
"""
