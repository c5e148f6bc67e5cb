"""What an index is searched by, besides its vectors."""

from bedrock_kb_simulator.rules.rule import rule

TEXT_SEARCH_KEYS = rule(
    "text-search.keys",
    "at most 10 keys of an index are searchable; a non-filterable one can be",
    "model (lists of 10, and the note on non-filterable keys); text assumed",
    value=10,
    message="A vector index can have at most {limit} text search configurations",
)
TEXT_SEARCH_TWICE = rule(
    "text-search.twice",
    "one configuration for each key",
    "model; text assumed",
    message="Specify no more than one text search configuration for each metadata key",
)
TEXT_SEARCH_ENHANCED = rule(
    "text-search.mode",
    "text search needs an index in ENHANCED mode",
    "model for UpdateMetadataConfiguration, assumed for CreateIndex; text assumed",
    message="Text search configurations require a vector index in ENHANCED mode",
)
TEXT_SEARCH_CHANGE = rule(
    "text-search.change",
    "UpdateMetadataConfiguration either adds or deletes",
    "model; text assumed",
    message="Specify either add or delete, but not both",
)
TEXT_SEARCH_TAKEN = rule(
    "text-search.taken",
    "a key that is searchable already can't be added, in another language neither",
    "model for the error; when it is answered, and the text, are assumed",
    error="ConflictException",
    message="The metadata key '{key}' already has a text search configuration",
)
TEXT_SEARCH_BUILDING = rule(
    "text-search.building",
    "no change while a key of the index is BUILDING",
    "model for the error; when it is answered, and the text, are assumed",
    error="ConflictException",
    message="A text search configuration of this vector index is being built",
)
TEXT_SEARCH_ABSENT = rule(
    "text-search.absent",
    "only what is searchable can be deleted",
    "assumed, the text too",
    message="The metadata key '{key}' has no text search configuration",
)
TEXT_BACKFILL = rule(
    "text-search.backfill",
    "a key that is added to an index with vectors is BUILDING for some seconds, then ACTIVE; of an"
    " empty index it is ACTIVE at once",
    "model for the statuses; the time, and that an empty index needs none, are assumed",
    value=30,
)
TEXT_ANALYZERS = rule(
    "text-search.analyzers",
    "words are runs of letters and digits in small letters, accents kept; `en` drops Lucene's 33"
    " stop words from queries and compares Porter's stems; `zh`, `ja` and `ko` are cut into every"
    " two characters; the other languages are not stemmed here",
    "assumed after Lucene's analyzers: AWS names the languages, not what is done with them",
)
TEXT_VALUES = rule(
    "text-search.values",
    "strings are searched, of a list each string; a vector without the key is found by its others",
    "assumed: the guide speaks of strings only",
)
