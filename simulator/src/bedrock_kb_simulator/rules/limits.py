"""What `validation` takes from the service model, in so far as anyone can meet it."""

from bedrock_kb_simulator.rules.rule import rule

MODELLED = {
    "name": "names have 1-100 letters and digits, joined by single - or _",
    "description": "descriptions have 1-200 characters",
    "client-token": "client tokens have 33-256 letters and digits, hyphens between them",
    "inclusion-prefix": "an S3 data source has at most one inclusion prefix, of 1-300 characters",
    "chunk-size": "chunks of a fixed size overlap by 1-99 %",
    "documents-per-call": "1-10 documents or identifiers per call (the quota table says 25)",
    "custom-id": "ids of documents have 1-2,048 characters",
    "s3-uri": "content by location: `s3://`, a bucket's name, `/` and a key, 1,024 in all",
    "identifier-uri": "documents of S3 data sources are named by `s3://` and 1-128 characters",
    "inline-attributes": "1-50 inline attributes",
    "inline-attribute": "keys of 1-200, strings of 1-2,048 characters, lists of 1-10 strings",
    "inline-content": "1-5,242,880 bytes or characters of inline content",
    "page-size": "pages of 1-1,000",
    "job-filter": "jobs are listed by one filter, STATUS EQ, and sorted by STATUS or STARTED_AT",
    "results": "1-100 results",
    "filter-key": "keys in filters have 1-100 characters",
    "filter-group": "groups in filters have at least 2 members",
    "answer-input": "at most 1,000 characters to RetrieveAndGenerate",
    "index-dimension": "indexes have 1-4,096 dimensions",
    "non-filterable-keys": "an index has 1-10 non-filterable keys, of 1-63 characters",
}
for _limit, _says in MODELLED.items():
    rule(f"model.{_limit}", _says, "model", message="1 validation error detected: ...")
