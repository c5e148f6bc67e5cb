"""RetrieveAndGenerate: the model, the prompt, the answer."""

from bedrock_kb_simulator.rules.rule import rule

GENERATION_MODEL = rule(
    "generate.model",
    "modelArn is required, in the model's pattern, and names a model that writes text",
    "model for the pattern; text assumed",
    message="The model {model} can't generate text. Choose a model that does.",
)
PROMPT_RESULTS = rule(
    "generate.search-results",
    "a prompt template contains $search_results$",
    "model; text assumed",
    message="The prompt template must contain the placeholder $search_results$",
)
PROMPT_PLACEHOLDERS = rule(
    "generate.placeholders",
    "$query$, $search_results$, $output_format_instructions$ and $current_time$ are replaced,"
    " once: what a passage says is never taken for a placeholder; other text stays as it is",
    "guide; that nothing is replaced twice is assumed",
)
PROMPT_CITATIONS = rule(
    "generate.format-instructions",
    "an answer to a template without $output_format_instructions$ has no citations",
    "guide",
)
NOTHING_FOUND = rule(
    "generate.nothing-found",
    "where nothing is found, no model is asked, and the answer has no citations",
    "observed",
    message="Sorry, I am unable to assist you with this request.",
)
CITATION_SPANS = rule(
    "generate.citations",
    "each citation is a part of the answer, from the end of the one before, with the passages it"
    " rests on, without scores; a span ends with its last character",
    "model for the shape; observed that spans include their end",
)
GENERATION_STREAM = rule(
    "generate.stream",
    "RetrieveAndGenerateStream answers as RetrieveAndGenerate does, in events: text in pieces, a"
    " citation after the part of the text that it is of, once more below `citation` as before"
    " botocore 1.36.11, and what a guardrail did last; sessionId is in a header",
    "model for the events and the deprecated `citation`; their order, and that errors come in place"
    " of a stream, assumed",
)
SESSION_UNKNOWN = rule(
    "generate.session",
    "sessionId is an earlier answer's; a caller can't choose one",
    "model; text observed",
    message="Session with Id {session} is not valid. Please check and try again.",
)
MODEL_UNREACHABLE = rule(
    "generate.dependency-failed",
    "the configured endpoint can't be reached, is slower than this many seconds, refuses, or"
    " answers no chat completion",
    "model for the error; the seconds and the text are ours",
    value=30,
    error="DependencyFailedException",
    message="The model endpoint {problem}. Check the resource configurations and retry your"
    " request.",
)
MODEL_BROKEN = rule(
    "generate.bad-gateway",
    "the configured endpoint answers with an error of its own (HTTP 5xx)",
    "model for the error; text assumed",
    error="BadGatewayException",
    message="The model endpoint {problem}. Retry your request.",
)
MODEL_THROTTLED = rule(
    "generate.throttled",
    "the configured endpoint has had too many requests (HTTP 429)",
    "model for the error; text assumed",
    error="ThrottlingException",
    message="Your request rate is too high. Reduce the frequency of requests.",
)
