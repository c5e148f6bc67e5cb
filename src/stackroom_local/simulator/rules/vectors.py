"""S3 Vectors' buckets and indexes."""

from stackroom_local.simulator.rules.rule import rule

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
