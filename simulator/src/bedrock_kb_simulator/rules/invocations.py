"""InvokeModel of models that write text, and what Bedrock tells of models unasked."""

from bedrock_kb_simulator.rules.rule import rule

INVOKE_MALFORMED = rule(
    "invoke.malformed",
    "a body is JSON in the words of the model's family: Anthropic's Messages with anthropic_version"
    " bedrock-2023-05-31 and max_tokens, or Nova's messages-v1, without documents, which Converse"
    " alone takes",
    "guide; observed for keys that are missing or extraneous (diffbot/code-gpt-docs#300,"
    " earendil-works/pi#2053), the text of others is assumed",
    message="Malformed input request: {at}: {problem}, please reformat your input and try again.",
)
INVOKE_AS_CONVERSE = rule(
    "invoke.as-converse",
    "messages and tools are held to Converse's rules, and answered as Converse answers them",
    "guide for Nova; for Claude the behaviour is assumed, and its errors read otherwise at AWS",
)
MODELS_AVAILABLE = rule(
    "models.available",
    "GetFoundationModelAvailability tells of every model that it is there, and GetInferenceProfile"
    " of every profile of AWS's own, for every id is taken",
    "model for the members; that all is there is the simulator's",
)
