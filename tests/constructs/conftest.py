import os

# Before the CDK is imported: it reads both once.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ["CDK_VALIDATION"] = "false"
