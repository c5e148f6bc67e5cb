"""
Tools in Converse, and scripts that say what a model answers.

Texts that are *observed* are quoted in public reports of users of Converse: agno-agi/agno#6698,
strands-agents/harness-sdk#1435, langgenius/dify#16421, BerriAI/litellm#20047,
double16/Cyber-AutoAgent-ng#27, cognitect-labs/aws-api#272, sigoden/aichat#1550,
aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15, strands-agents/harness-sdk#649.
"""

from bedrock_kb_simulator.rules.rule import rule

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
    "toolChoice: auto lets the model choose, any demands a tool, tool the one that it names, which"
    " must be offered",
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
    "a user's turn has no more toolResult blocks than the turn before has toolUse blocks",
    "observed",
    message="The number of toolResult blocks at {at} exceeds the number of toolUse blocks of"
    " previous turn.",
)
TOOL_RESULTS_REPEATED = rule(
    "tools.results-repeated",
    "one toolResult for an id in a turn",
    "observed",
    message="The toolResult blocks at {at} contain duplicate Ids: {ids}",
)
TOOL_USES_REPEATED = rule(
    "tools.uses-repeated",
    "one toolUse for an id in a turn",
    "observed",
    message="The toolUse blocks at {at} contain duplicate Ids: {ids}",
)
TOOL_JSON = rule(
    "tools.json",
    "a toolUse's input and the JSON of a toolResult are objects",
    "observed",
    message="The format of the value at {at} is invalid. Provide a json object for the field and"
    " try again.",
)
TOOL_ERROR_EMPTY = rule(
    "tools.error-empty",
    "a toolResult with status error has content",
    "observed",
    message="The content field at {at} cannot be empty when status value is error.",
)
TOOL_ROLE = rule(
    "tools.role",
    "the assistant uses tools, and the user gives their results",
    "guide; text assumed",
    message="The {block} block at {at} is only allowed in messages of the role {role}.",
)
TOOL_MALFORMED = rule(
    "tools.malformed",
    "the configured endpoint uses a tool that is not offered, or gives it no JSON object; a stream"
    " is refused alike, where AWS begins it and breaks it off",
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
    "what a script quotes stands in a tool's result",
    "assumed: AWS has no scripts",
    message="The script quotes {name}, and its pattern {pattern} is found in no tool's result.",
)
