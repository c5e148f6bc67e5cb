"""Converse and guardrails; what scripts refuse; what Bedrock tells of models."""

from bedrock_kb_simulator.rules.rule import conflict, rule

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
    "the guardrail looks at the messages, then at the answer, never at the system prompt, nor at"
    " tools: what they are, are given and find; what it blocks is answered by its own message with"
    " stopReason guardrail_intervened",
    "model: it operates on the messages; that the system prompt is none of them is our reading;"
    " guide for tools",
)
CONVERSE_GUARDRAIL_TRACE = rule(
    "converse.guardrail-trace",
    "with trace enabled, the response has the guardrail's findings in question and answer in"
    " the form of ApplyGuardrail; a stream has them in its metadata",
    "model for the shape",
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
    "the configured endpoint is slower than this many seconds",
    "model for the error; the seconds are ours; text assumed",
    value=30,
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


# Tools in Converse, and scripts that say what a model answers.
#
# Texts that are *observed* are quoted in public reports of users of Converse: agno-agi/agno#6698,
# strands-agents/harness-sdk#1435, langgenius/dify#16421, BerriAI/litellm#20047,
# double16/Cyber-AutoAgent-ng#27, cognitect-labs/aws-api#272, sigoden/aichat#1550,
# aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15,
# strands-agents/harness-sdk#649.

TOOL_CONFIG_MISSING = rule(
    "tools.configuration",
    "a conversation with uses or results of tools has a toolConfig, too",
    "observed",
    message="The toolConfig field must be defined when using toolUse and toolResult content"
    " blocks.",
)
TOOL_NAMES = rule(
    "tools.names",
    "names of tools are in the model's pattern, and each has one",
    "model for the pattern; observed for Claude that a second one is refused; text as Anthropic"
    " has it, for Converse assumed",
    message="The model returned the following errors: tools: Tool names must be unique.",
)
TOOL_SCHEMA = rule(
    "tools.schema",
    "a tool's schema is JSON Schema of an object",
    "observed",
    message="The value at {at} must be one of the following: object.",
)
TOOL_CHOICE = rule(
    "tools.choice",
    "toolChoice auto lets the model choose, any requires a tool, tool requires the named one,"
    " which must be offered",
    "guide; text assumed",
    message="The tool {name} in toolConfig.toolChoice is not one of toolConfig.tools.",
)
TOOL_RESULTS_MISSING = rule(
    "tools.results-missing",
    "each toolUse of the assistant has its toolResult in the user's next turn",
    "observed",
    message="Expected toolResult blocks at {at} for the following Ids: {ids}",
)
TOOL_RESULTS_STRAY = rule(
    "tools.results-stray",
    "a user turn has no more toolResult blocks than the previous turn has toolUse blocks",
    "observed",
    message="The number of toolResult blocks at {at} exceeds the number of toolUse blocks of"
    " previous turn.",
)
TOOL_JSON = rule(
    "tools.json",
    "a toolUse's input and the JSON of a toolResult are objects",
    "observed",
    message="The format of the value at {at} is invalid. Provide a json object for the field and"
    " try again.",
)
TOOL_ROLE = rule(
    "tools.role",
    "the assistant uses tools, and the user gives their results",
    "guide; text assumed",
    message="The {block} block at {at} is only allowed in messages of the role {role}.",
)
TOOL_MALFORMED = rule(
    "tools.malformed",
    "the configured endpoint uses a tool that is not offered, or an input that is no JSON"
    " object; a stream is refused in the same way, where AWS begins it and breaks it off",
    "observed for Nova",
    error="ModelErrorException",
    message="Model produced invalid sequence as part of ToolUse. Please refer to the model tool use"
    " troubleshooting guide.",
)
SCRIPT_EXHAUSTED = rule(
    "script.exhausted",
    "a script that fits has a turn for each of the model's in the conversation",
    "assumed: AWS has no scripts",
    message="The script for {model} has {count} turn(s), and this conversation asks for turn"
    " {number}. Give the simulator a longer script.",
)
SCRIPT_TOOL = rule(
    "script.tool",
    "a script uses tools that the request offers",
    "assumed: AWS has no scripts",
    message="The script uses the tool {name}, which the request does not offer. It offers:"
    " {offered}.",
)
SCRIPT_TOOL_DEMANDED = rule(
    "script.tool-demanded",
    "where toolChoice demands a tool, a script uses it",
    "assumed: AWS has no scripts",
    message="The request's toolChoice demands {name}, and the script does not use it.",
)
SCRIPT_QUOTE = rule(
    "script.quote",
    "what a script quotes occurs in a tool's result",
    "assumed: AWS has no scripts",
    message="The script quotes {name}, and its pattern {pattern} is found in no tool's result.",
)


CACHE_POINTS = rule(
    "converse.cache",
    "cache points are accepted in messages, system prompts and tools, of every model and in any"
    " number; nothing is cached: the tokens read from and written to the cache are 0",
    "model for the members; that every model takes them is the simulator's",
)
TEMPERATURE_DEPRECATED = rule(
    "converse.temperature-deprecated",
    "Claude Opus from 4.7 on refuses a request with a temperature (cline issue 10572, promptfoo"
    " 10307, opensearch-build 6330)",
    "observed",
    message="The model returned the following errors: `temperature` is deprecated for this model.",
)


# Guardrails: what can be made, what they look at, and what they do.

GUARDRAIL_NAME_TAKEN = conflict(
    "guardrail.name-taken",
    "names of guardrails are unique in the account",
    "observed; that the error is the model's ConflictException is assumed",
    message="Another guardrail in your account already has this name.",
)
GUARDRAIL_EMPTY = rule(
    "guardrail.empty",
    "a guardrail has at least one filter",
    "guide; text assumed",
    message="A guardrail must have at least one policy: topicPolicyConfig or wordPolicyConfig",
)
GUARDRAIL_VERSIONS = rule(
    "guardrail.versions",
    "UpdateGuardrail replaces the whole draft; numbered versions don't change, are counted from 1,"
    " and a number is not given twice; deleting a guardrail deletes all of them, or the named one",
    "guide for versions and model for deletion; observed that what an update leaves out is gone;"
    " that a deleted number stays unused is assumed",
)
GUARDRAIL_WORDS = rule(
    "guardrail.words",
    "words and phrases are blocked where they stand as such, in any case, never within a word",
    "guide for 'exact match'; that case and spaces don't count is assumed",
)
GUARDRAIL_TOPICS = rule(
    "guardrail.topics",
    "AWS asks a model whether a text is about a topic; here it is if one of its sentences has"
    " at least this cosine with the topic's name and definition, or with an example",
    "guide for what a topic is; the nearness is ours, measured in simulator/tests/test_topics.py",
    # Four topics, with a definition and three examples each: at 0.35 all of 24 texts about
    # them are caught and none of 30 ordinary texts is, at 0.40 four are missed, at 0.28 the
    # first ordinary one is caught. What is close to a topic may be caught: 2 of 4 were.
    value=0.35,
)
GUARDRAIL_UNKNOWN = rule(
    "guardrail.unknown",
    "ApplyGuardrail of a guardrail or version that does not exist",
    "model for the error; text as RetrieveAndGenerate has it",
    error="ResourceNotFoundException",
    message="The guardrail identifier or version provided in the request does not exist.",
)
GUARDRAIL_MISSING = rule(
    "guardrail.missing",
    "Converse and Retrieve with a guardrail or version that does not exist",
    "text as RetrieveAndGenerate has it; that the error is ValidationException is assumed",
    message="The guardrail identifier or version provided in the request does not exist.",
)
GUARDRAIL_AT_RETRIEVE = rule(
    "retrieve.guardrail",
    "the guardrail looks at the query, and never at what is found; where it intervenes, the"
    " answer says guardrailAction INTERVENED and has no results; without a guardrail it says none",
    "guide: guardrails aren't applied to retrieved references; that no results come with an"
    " intervention is assumed, since AWS says nothing of it",
)
