"""Bedrock's refusals as users met them: code, message and HTTP status."""

# AWS re:Post, and HatmanStack/RAGStack-Lambda lib/ragstack_common/ingestion.py
BUSY = [
    ("ConflictException", "maximum number of concurrent ingestion jobs per knowledge base: 1", 409),
    ("ThrottlingException", "Rate exceeded", 429),
    ("ServiceQuotaExceededException", "5 ingestion jobs run in this account", 402),
    ("ValidationException", "There is an ongoing KnowledgeBaseDocuments API request", 400),
    ("ValidationException", "There is at least one running ingestion job", 400),
    (
        "ValidationException",
        "sum of concurrent IngestKnowledgeBaseDocuments and DeleteKnowledgeBaseDocuments "
        "requests can't exceed (10)",
        400,
    ),
]
NOT_BUSY = [
    ("ValidationException", "clientToken must have a length of 33 or more", 400),
    ("ResourceNotFoundException", "Data source DS12345678 is not found", 404),
    ("AccessDeniedException", "not authorized for ongoing/running role that can't exceed", 403),
]
