"""Features of AWS that the simulator lacks or replaces; docs/fidelity.py lists them for users."""

# Requests for these are refused with the feature's name (rule request.not-simulated).
REFUSED = (
    "vector stores other than S3 Vectors and a managed knowledge base's own; changes of tags",
    "data sources and connectors other than S3 and CUSTOM; transformations; context enrichment",
    "managed knowledge bases: aclEnabled and userContext, metadataFilesPrefix, syncSchedule,"
    " metadataConfigurations, resource policies, KMS keys, storage for media, media extraction,"
    " embeddingModelType CUSTOM, filters of a connector other than inclusionPrefixes,"
    " AgenticRetrieveStream, GetDocumentContent, inspection of access lists",
    "Retrieve: userContext, implicit filters, images, additionalModelRequestFields of a reranking"
    " model",
    "RetrieveAndGenerate and RetrieveAndGenerateStream",
    "Converse and ConverseStream: content other than text and tools; tools that AWS runs; prompt"
    " resources; guardrails beside a stream; additionalModelRequestFields,"
    " additionalModelResponseFieldPaths, performanceConfig, serviceTier, outputConfig,"
    " requestMetadata",
    "InvokeModel: models other than Titan text embeddings; InvokeModelWithResponseStream",
    "vector indexes in the mode CLASSIC, queryMode CLASSIC; ListVectors: segments",
    "Textract: operations other than DetectDocumentText; S3Object",
    "guardrails: entries that don't block (action NONE, inputEnabled or outputEnabled false);"
    " content filters, sensitive information, contextual grounding, automated reasoning,"
    " AWS's profanity list, the STANDARD tier, cross-region profiles, KMS keys; images and"
    " qualifiers in ApplyGuardrail, its outputScope FULL, and the trace enabled_full",
)
# Behaviour of AWS, and the simulator's replacement.
DIFFERENCES = {
    "the models behind Converse": "unless a script or an OpenAI-compatible"
    " endpoint answers, an extract of the passages that says so; Converse takes them from"
    ' `<passage number="1">` in the prompt and ignores the rest of it and inferenceConfig; of the'
    " tools offered, it calls the first that needs only a text `query`, once for a question, and"
    " extracts the answer from the result",
    "Textract's models, and those that parse documents": "OCR (PP-OCR's small models, from"
    " rapidocr) of pages and pictures without text: no Markdown tables, no descriptions of figures;"
    " parsingPrompt and parsingModality have no effect; audio and video are IGNORED, and so are"
    " slides in a managed knowledge base",
    "the whole page or table that Bedrock may return for a Markdown chunk": (
        "the chunk itself, except for HIERARCHICAL chunks"
    ),
    "reranking models": "half the local model's similarity, half the share of the question's words",
    "the model that detects denied topics": "nearness of embeddings, in English; AWS will judge"
    " single texts otherwise (accuracy: simulator/tests/test_topics.py)",
    "the score below which a managed knowledge base drops results": "none is dropped; AWS documents"
    " no threshold, and one user saw three of five matching documents",
    "approximate search in S3 Vectors": (
        "exact search of every visible vector, slower the more there are"
    ),
    "BM25 of S3 Vectors": "SQLite's FTS5 with Lucene's word weights; the scores differ",
    "permissions of callers and of the knowledge base's role": "unchecked, except for what a vector"
    " bucket's policy denies; a data source whose index is gone fails to delete as if the role had"
    " lost its permissions",
    "vector bucket policies": "kept, but only Deny is enforced, with no condition other than"
    " aws:PrincipalArn, never for the account's root, and only with `--sts-endpoint`",
    "quotas on 10 TB per managed knowledge base, 10,000 of them, and 50 jobs in one; 30 MB of text"
    " per file; 5,000,000 files, 100 GB and 1,000 files to parse per job; InvokeModel's and"
    " Converse's requests per minute; 100 guardrails, 20 versions of one, and their text units per"
    " second; 50 tags of a resource; S3 Vectors' request rates, 20 MiB per request and 1 MB on a"
    " page of ListVectors": "not enforced",
    "a guardrail's creation, or its use elsewhere": "READY at once, deleted at once",
    "deleting a VECTOR knowledge base": "gone at once",
    "prompt caching": "cache points are accepted from every model; nothing is cached",
    "limits of single models on tools (text and results in one turn, schemas, hyphens in names)": (
        "accepted, as by the more capable models"
    ),
    "encryption of S3 Vectors by a key of one's own": "not kept; sseType reads AES256",
    "costs and permissions by tag": "tags are kept and listed; nothing else uses them",
    "vended logs, metrics, CloudTrail": (
        "not written; like Bedrock, it sends no ingestion events to EventBridge"
    ),
    "a data source deleted during a direct request, or two requests about one document": (
        "the one that ends last decides; AWS documents neither"
    ),
    "x-amz-bedrock-kb-document-page-number, -source-file-modality": "their bytes count, but they"
    " are not returned: which documents have them on S3 Vectors is unconfirmed",
    "refusal of files encrypted with SSE-C or a KMS key": "left to the S3 beside it: ministack"
    " neither blocks SSE-C nor applies policies to root; such a file is accepted, and fails where"
    " it can't be read",
}
