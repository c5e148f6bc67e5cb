"""InvokeModel of models that write text, and what Bedrock tells of models unasked."""

from bedrock_kb_simulator.rules.rule import rule

MODELS_AVAILABLE = rule(
    "models.available",
    "GetFoundationModelAvailability tells of every model that it is there, and GetInferenceProfile"
    " of every profile of AWS's own, for every id is taken",
    "model for the members; that all is there is the simulator's",
)
