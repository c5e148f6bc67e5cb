"""Guardrails: what can be made, what they look at, and what they do."""

from bedrock_kb_simulator.rules.rule import rule

GUARDRAILS_PER_ACCOUNT = rule(
    "guardrail.per-account",
    "100 guardrails per account",
    "quotas; text assumed",
    value=100,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of guardrails per account: {limit}",
)
GUARDRAIL_NAME_TAKEN = rule(
    "guardrail.name-taken",
    "names of guardrails are unique in the account",
    "observed; that the error is the model's ConflictException is assumed",
    error="ConflictException",
    message="Another guardrail in your account already has this name.",
)
GUARDRAIL_EMPTY = rule(
    "guardrail.empty",
    "a guardrail has at least one filter",
    "guide; text assumed",
    message="A guardrail must have at least one policy: topicPolicyConfig or wordPolicyConfig",
)
GUARDRAIL_REPLACED = rule(
    "guardrail.replaced",
    "UpdateGuardrail replaces the whole draft; numbered versions stay as they were made",
    "guide for versions; observed that what an update leaves out is gone",
)
GUARDRAIL_VERSIONS = rule(
    "guardrail.versions",
    "20 numbered versions per guardrail, counted from 1; a number is not given twice",
    "quotas; text, and that a deleted number stays unused, assumed",
    value=20,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of versions per guardrail: {limit}",
)
GUARDRAIL_DELETED = rule(
    "guardrail.deleted",
    "a guardrail goes with all its versions; a numbered version goes alone",
    "model",
)
GUARDRAIL_WORDS = rule(
    "guardrail.words",
    "words and phrases are blocked where they stand as such, in any case, never within a word",
    "guide for 'exact match'; that case and spaces don't count is assumed",
)
GUARDRAIL_TOPICS = rule(
    "guardrail.topics",
    "AWS asks a model whether a text is about a topic; here it is, where one of its sentences is"
    " as near as this cosine to the topic's name and definition or to an example",
    "guide for what a topic is; the nearness is ours, measured in tests/simulator/test_topics.py",
    # Four topics, with a definition and three examples each: at 0.35 all of 24 texts about
    # them are caught and none of 30 ordinary texts is, at 0.40 four are missed, at 0.28 the
    # first ordinary one is caught. What is close to a topic may be caught: 2 of 4 were.
    value=0.35,
)
GUARDRAIL_SWITCHES = rule(
    "guardrail.actions",
    "inputEnabled and outputEnabled switch an entry on one side off; the action NONE only reports",
    "model",
)
GUARDRAIL_SCOPE = rule(
    "guardrail.output-scope",
    "outputScope FULL also names the topics that were not found, and no words",
    "model",
)
GUARDRAIL_UNKNOWN = rule(
    "guardrail.unknown",
    "ApplyGuardrail of a guardrail or version that does not exist",
    "model for the error; text as RetrieveAndGenerate has it",
    error="ResourceNotFoundException",
    message="The guardrail identifier or version provided in the request does not exist.",
)
GUARDRAIL_MISSING = rule(
    "retrieve.guardrail-missing",
    "Retrieve and RetrieveAndGenerate with a guardrail or version that does not exist",
    "model for the shape; text assumed",
    message="The guardrail identifier or version provided in the request does not exist.",
)
GUARDRAIL_AT_RETRIEVE = rule(
    "retrieve.guardrail",
    "the guardrail looks at the query, and never at what is found; where it intervenes, the"
    " answer says guardrailAction INTERVENED and has no results; without a guardrail it says none",
    "guide: guardrails aren't applied to retrieved references; that no results come with an"
    " intervention is assumed, since AWS says nothing of it",
)
GUARDRAIL_AT_GENERATION = rule(
    "generate.guardrail",
    "the guardrail looks at the question, then at the answer, never at the references; what it"
    " blocks is answered by its own message with guardrailAction INTERVENED and no citations",
    "guide; that citations are left out is assumed",
)
