"""Converse and ConverseStream: messages, tools, documents; and what scripts refuse."""

from bedrock_kb_simulator.rules.rule import rule

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
    " the answer, never at the system prompt, nor at tools: what they are, are given and find; what"
    " it blocks is answered by its own message with stopReason guardrail_intervened",
    "model: it operates on the messages; that the system prompt is none of them is our reading, and"
    " so are documents; guide for tools",
)
CONVERSE_GUARDRAIL_TRACE = rule(
    "converse.guardrail-trace",
    "with trace enabled an answer tells what the guardrail found in what was asked and answered, as"
    " ApplyGuardrail tells it, with enabled_full as with its outputScope FULL; a stream tells it"
    " with its metadata",
    "model for the shape; that enabled_full is as FULL is assumed",
)
CONVERSE_GUARDRAIL_MISSING = rule(
    "converse.guardrail-missing",
    "Converse with a guardrail or version that does not exist",
    "text as RetrieveAndGenerate has it; that the error is ValidationException is assumed",
    message="The guardrail identifier or version provided in the request does not exist.",
)
CONVERSE_STOP = rule(
    "converse.stop-reason",
    "end_turn where the answer is whole, tool_use where it uses tools, max_tokens where the"
    " configured endpoint says that it is cut for its length (finish_reason length)",
    "model",
)
CONVERSE_STREAM = rule(
    "converse.stream",
    "ConverseStream answers as Converse does, in events: a text's begins with its first piece, a"
    " toolUse's with its id and name, its input comes as pieces of JSON; usage comes last",
    "model for the events; observed that a text has no contentBlockStart",
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
