"""What AWS does and the simulator does not, and what it does instead; for docs/fidelity.md."""

OMISSIONS = {
    "vector stores other than S3 Vectors and that of a managed knowledge base": "refused by name",
    "data sources and connectors other than S3 and CUSTOM; transformations; context enrichment": (
        "refused by name"
    ),
    "of managed knowledge bases: aclEnabled and userContext, metadataFilesPrefix, syncSchedule,"
    " metadataConfigurations, resource policies, KMS keys, a place for media": "refused by name, or"
    " their operations are",
    "of managed knowledge bases: AgenticRetrieveStream, GetDocumentContent, the inspection of"
    " access lists": "refused by name",
    "the relevance below which a managed knowledge base leaves results out": "never: one user saw"
    " three of five documents that a filter meant; nobody says where it lies",
    "what a managed knowledge base reads of slides, sound and film": "IGNORED, as elsewhere",
    "10 TB of a managed knowledge base, and 30 MB of text of a file": "not counted",
    "the model, or Bedrock Data Automation, that parses documents": "OCR (PP-OCR's small models, in"
    " the wheel of rapidocr) of pages and pictures without text: no tables as Markdown, no"
    " descriptions of figures, no heed to parsingPrompt and parsingModality; audio and video are"
    " IGNORED",
    "the whole page, or the whole table, that Bedrock may show in place of a chunk of Markdown": (
        "chunks are shown as they are, but for those of HIERARCHICAL"
    ),
    "of Retrieve: userContext, images, additionalModelRequestFields of a reranking model": (
        "refused by name"
    ),
    "the models that rerank": "half the similarity of the local model, half the share of the"
    " question's words",
    "the model that makes an implicit filter": "words of the question that stand in the attributes'"
    " descriptions; never a range, never a guess: rule implicit-filter.stand-in",
    "of guardrails: content filters, sensitive information, contextual grounding, automated"
    " reasoning, AWS's list of profanities, the tier STANDARD, profiles across regions, KMS keys;"
    " images and qualifiers in ApplyGuardrail": "refused by name",
    "the model with which AWS tells whether a text is about a denied topic": "nearness of"
    " embeddings, in English; how near is measured in simulator/tests/test_topics.py, and AWS will"
    " judge single texts otherwise",
    "a guardrail that is being created, or is in use elsewhere": "READY at once; deleted at once",
    "text units of guardrails per second": "counted in the answer, never against a quota",
    "a model for RetrieveAndGenerate and Converse": "an answer is extracted from the passages, or"
    ' from those that stand numbered in Converse\'s prompt (`<passage number="1">`), says so, and'
    " heeds neither the rest of the prompt nor inferenceConfig; of the tools that Converse offers,"
    " the first whose input needs nothing but a text `query` is used once for a question, and the"
    " answer is extracted from what it found; or an OpenAI-compatible endpoint answers, whichever"
    " model is named (BEDROCK_KB_SIMULATOR_OPENAI_BASE_URL, _MODEL, _API_KEY);"
    " or a script does",
    "RetrieveAndGenerate's memory of a session": "its id is known, what was said is not",
    "of RetrieveAndGenerate: external sources, query decomposition, additionalModelRequestFields,"
    " performanceConfig, sessionConfiguration, userContext": "refused by name",
    "of Converse and ConverseStream: images and other content than text, tools and documents;"
    " documents as DOC or XLS, in S3, or with citations; tools that AWS runs; a prompt resource,"
    " guardrails beside a stream, additionalModelRequestFields,"
    " additionalModelResponseFieldPaths, performanceConfig, serviceTier, outputConfig,"
    " requestMetadata": "refused by name",
    "of InvokeModel: models other than Titan's text embeddings, which Converse asks for text;"
    " InvokeModelWithResponseStream": "refused by name",
    "caching of prompts": "cache points are taken where the model takes them, and nothing is"
    " cached",
    "what a single model refuses of tools (texts and results in one turn, schemas, hyphens in"
    " names)": "accepted, as the models that can do more do",
    "S3 Vectors' rates and the 20 MiB of a request": "not counted",
    "of S3 Vectors: encryption by one's own keys": "what a bucket or an index is made with is not"
    " kept, and sseType reads AES256",
    "what a vector bucket's policy allows, and denies by other conditions than one on"
    " aws:PrincipalArn": "the policy is kept, and nothing heeds that; nor does it bind the"
    " account's root, or anybody where no `--sts-endpoint` tells who calls",
    "costs and rights by tags": "tags are kept and listed, and nothing else heeds them",
    "the approximation in S3 Vectors' search": "every visible vector is compared: exact, and slower"
    " the more there are",
    "S3 Vectors' own BM25": "SQLite's FTS5, with words weighed as Lucene does; the scores are not"
    " AWS's",
    "callers' rights": "never checked, but for what a vector bucket's policy denies; that a query"
    " with texts, a filter or metadata needs s3vectors:GetVectors too is held in"
    " tests/campaigns/permissions",
    "the knowledge base's role": "never checked, but for what a vector bucket's policy denies; a"
    " data source whose deletion fails for want of its"
    " index ends as one whose role lost its rights does",
    "5,000,000 files and 100 GB per job": "more than a machine's bucket holds; not counted",
    "InvokeModel's 6,000 requests per minute, and a model's of Converse": "not counted",
    "deleting a VECTOR knowledge base takes a while": "it is gone at once",
    "vended logs, metrics, CloudTrail": "not written; of ingestion, Bedrock sends no events to"
    " EventBridge, and so neither does this",
    "what becomes of a direct request whose data source is deleted meanwhile, or of two at once"
    " about one document": "not documented; the one that ends last decides",
    "x-amz-bedrock-kb-document-page-number, -source-file-modality": "their bytes count, but they"
    " are not told: which documents have them is unconfirmed for S3 Vectors",
    "refusing files that are encrypted with a customer's key (SSE-C) or a KMS key": "that is the"
    " S3's beside it: ministack has neither the block of SSE-C nor its condition key, and holds"
    " root's keys to no policy; such a file is taken, and fails where it can't be read",
}
