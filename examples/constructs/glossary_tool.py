"""What searches the glossary, inside the agent. It finds its table in the configuration."""

import json
import os

import boto3
from strands import tool


@tool
def look_up_term(term: str) -> str:
    """
    Tells what a term of the house means.

    Args:
        term: The term alone, in its usual spelling.
    """
    entries = json.loads(os.environ["KNOWLEDGE_BASES_CONFIG"])
    [table] = [each["table"] for each in entries if each.get("retrievalTool") == "look_up_term"]
    key = {"term": {"S": term.strip().casefold()}}
    found = boto3.client("dynamodb").get_item(TableName=table, Key=key).get("Item")
    return found["meaning"]["S"] if found else f"The glossary has no {term!r}."
