"""S3 Vectors' buckets and indexes."""

from bedrock_kb_simulator.rules.rule import rule

VECTOR_BUCKET_TAKEN = rule(
    "vector-bucket.taken",
    "names of vector buckets are unique",
    "model; text assumed",
    error="ConflictException",
    message="A vector bucket with the specified name already exists",
)
VECTOR_BUCKET_NOT_EMPTY = rule(
    "vector-bucket.not-empty",
    "only an empty vector bucket can be deleted",
    "guide; text assumed",
    error="ConflictException",
    message="The specified vector bucket is not empty",
)
VECTOR_BUCKET_GONE = rule(
    "vector-bucket.not-found",
    "a vector bucket that does not exist",
    "model; text assumed",
    error="NotFoundException",
    message="The specified vector bucket could not be found",
)
VECTOR_POLICY = rule(
    "vector-bucket.policy",
    "a bucket has one policy at most, JSON with a Statement; it is kept and answered as it was"
    " written, and heeded by nobody here; deleting one that is not there is no error",
    "model for the operations; what is refused, the text, and the last assumed, after S3",
    message="The vector bucket policy is not a valid policy document: JSON with a Statement",
)
VECTOR_POLICY_GONE = rule(
    "vector-bucket.policy-not-found",
    "a bucket without a policy has none to get",
    "model for the error; text assumed",
    error="NotFoundException",
    message="The specified vector bucket policy could not be found",
)
INDEX_TAKEN = rule(
    "index.taken",
    "names of indexes are unique in a bucket",
    "model; text assumed",
    error="ConflictException",
    message="An index with the specified name already exists",
)
INDEX_GONE = rule(
    "index.not-found",
    "an index that does not exist",
    "model; text assumed",
    error="NotFoundException",
    message="The specified index could not be found",
)
INDEX_UNNAMED = rule(
    "index.unnamed",
    "a request names an index by its ARN, or by its name and its bucket's",
    "model; text assumed",
    message="Specify either the index ARN, or both the vector bucket name and the index name",
)
BUCKET_DEFAULT_MODE = rule(
    "vector-bucket.default-mode",
    "an index gets its bucket's mode when it is made, ENHANCED unless"
    " PutVectorBucketDefaultIndexMode said otherwise; those that are there keep theirs",
    "model; that a bucket made since 2026-09-30 may default to CLASSIC is assumed",
)
INDEX_CLASSIC = rule(
    "index.classic",
    "UpdateIndexMode makes any index ENHANCED, and CLASSIC only in buckets from before 2026-09-30"
    " and without text search",
    "model; that text search must go first, and the text, are assumed",
    message="The index mode CLASSIC is not available for this vector index",
)
VECTOR_DIMENSION = rule(
    "vector.dimension",
    "a vector has as many values as its index has dimensions, in PutVectors and in QueryVectors",
    "model; text assumed",
    message="Vector dimension mismatch: expected {dimension}, got {given}",
)
VECTOR_VALUES = rule(
    "vector.values",
    "values are finite as 32-bit floats: no NaN, no infinity",
    "model; text assumed",
    message="Vector data must contain only valid floating-point values",
)
VECTOR_ZERO = rule(
    "vector.zero",
    "no vector of zeros alone where the distance is the cosine",
    "model for PutVectors, assumed for QueryVectors; text assumed",
    message="Zero vectors are not allowed with the cosine distance metric",
)
VECTOR_KEYS = rule(
    "vector.metadata-keys",
    "at most 50 metadata keys per vector",
    "guide; text assumed",
    value=50,
    message="Invalid record for key '{key}': Metadata must have at most {limit} keys",
)
VECTOR_METADATA = rule(
    "vector.metadata-values",
    "metadata are strings, numbers, booleans and lists of them",
    "guide; text assumed",
    message="Invalid record for key '{key}': Metadata values must be strings, numbers, booleans or"
    " lists",
)
VECTOR_FILTERABLE = rule(
    "vector.filterable-size",
    "PutVectors takes at most 2,048 bytes of filterable metadata per vector",
    "guide; text as users of Bedrock reported it",
    value=2048,
    message="Invalid record for key '{key}': Filterable metadata must have at most {limit} bytes",
)
VECTOR_SIZE = rule(
    "vector.metadata-size",
    "PutVectors takes at most 40 KB of metadata per vector",
    "guide; text assumed",
    value=40_960,
    message="Invalid record for key '{key}': Metadata must have at most {limit} bytes",
)
LIST_PAGE = rule("vectors.page", "ListVectors has 500 on a page unless told", "model", value=500)
LIST_BYTES = rule(
    "vectors.page-bytes",
    "a page of ListVectors ends once its vectors, data and metadata, exceed 1 MB",
    "model; that all of a vector counts, shown or not, is assumed",
    value=1_000_000,
)
LIST_SEGMENTS = rule(
    "vectors.segments",
    "segmentCount goes with a segmentIndex below it; together the segments have each vector once",
    "model; text assumed",
    message="segmentIndex and segmentCount must be given together, segmentIndex below segmentCount",
)
# "Confirmed live" by the README of ballerinax's ai.aws.bedrock (September 2026), through Retrieve:
# a self-managed knowledge base has no source URI for documents of a CUSTOM data source, where
# location.customDocumentLocation.id tells them. AWS's guide lists the key, and no exception.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
SOURCE_KEY = rule(
    "vector.source-uri",
    "Bedrock writes x-amz-bedrock-kb-source-uri with each passage of a VECTOR knowledge base: the"
    " object's URI, or the id of a CUSTOM data source's document; `--omit-source-uri` of the"
    " simulator, and of `stackroom up`, leaves the latter out, for it is disputed;"
    " x-amz-bedrock-kb-data-source-id stands with all of them",
    "guide for the keys; that of a CUSTOM document it is the id is assumed, observed that Retrieve"
    " has none, that its vectors have none either is inferred from that",
)
PUT_VECTORS = rule(
    "retrieve.put",
    "Retrieve finds what PutVectors wrote into a knowledge base's index, where it has the"
    " data-source id, the source URI and the text that Bedrock writes",
    "assumed: AWS says only that the index is the knowledge base's; this is the careful reading",
)
