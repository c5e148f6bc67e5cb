"""RetrieveAndGenerate and Converse: the model, the prompt, the answer."""

from stackroom_local.simulator.rules.rule import rule

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
CONVERSE_MODEL = rule(
    "converse.model",
    "modelId is required, in the model's pattern, and names a model that writes text: a foundation"
    " model or an inference profile",
    "model for the pattern; text assumed",
    message="This action doesn't support the model {model}. Try again with a supported text or chat"
    " model.",
)
CONVERSE_START = rule(
    "converse.start",
    "a conversation has messages, the first of them the user's",
    "observed",
    message="A conversation must start with a user message. Try again with a conversation that"
    " starts with a user message.",
)
CONVERSE_TURNS = rule(
    "converse.turns",
    "messages are the user's and the assistant's in turn",
    "observed",
    message="A conversation must alternate between user and assistant roles. Make sure the"
    " conversation alternates between user and assistant roles and try again.",
)
CONVERSE_BLANK = rule(
    "converse.blank",
    "no text is blank, and no message without content",
    "observed for text; that an empty message is refused alike is assumed",
    message="The text field in the ContentBlock object at {at} is blank. Add text to the text"
    " field, and try again.",
)
CONVERSE_GUARDRAIL = rule(
    "converse.guardrail",
    "the guardrail looks at the messages, or at their guardContent alone if there is any, then at"
    " the answer, never at the system prompt; what it blocks is answered by its own message with"
    " stopReason guardrail_intervened",
    "model: it operates on the messages; that the system prompt is none of them is our reading",
)
CONVERSE_GUARDRAIL_MISSING = rule(
    "converse.guardrail-missing",
    "Converse with a guardrail or version that does not exist",
    "text as RetrieveAndGenerate has it; that the error is ValidationException is assumed",
    message="The guardrail identifier or version provided in the request does not exist.",
)
CONVERSE_STOP = rule(
    "converse.stop-reason",
    "end_turn where the answer is whole, max_tokens where the configured endpoint says that it is"
    " cut for its length (finish_reason length)",
    "model",
)
CONVERSE_USAGE = rule(
    "converse.usage",
    "usage counts the tokens of all texts, total being both; of what a guardrail blocks before a"
    " model is asked, none",
    "model for the members; counted as the local embedding model counts, each of AWS's has its own",
)
CONVERSE_TIMEOUT = rule(
    "converse.timeout",
    "the configured endpoint is slower than generate.dependency-failed allows",
    "model for the error; text assumed",
    error="ModelTimeoutException",
    message="The model endpoint {problem}. Retry your request.",
)
CONVERSE_MODEL_ERROR = rule(
    "converse.model-error",
    "the configured endpoint can't be reached, refuses, fails, or answers no chat completion",
    "model for the error; text assumed",
    error="ModelErrorException",
    message="The model endpoint {problem}.",
)
CONVERSE_THROTTLED = rule(
    "converse.throttled",
    "the configured endpoint has had too many requests (HTTP 429)",
    "model for the error; text assumed",
    error="ThrottlingException",
    message="Too many requests, please wait before trying again.",
)
