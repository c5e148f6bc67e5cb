"""
The knowledge base that with_boto3.py made, as a tool of a Strands agent: `with_strands.py
KNOWLEDGE_BASE_ID`. Its model is by Bedrock's Converse, which here uses the tool, then extracts an
answer.
"""

import sys

import boto3
from strands import Agent, tool
from strands.models import BedrockModel

_runtime = boto3.client("bedrock-agent-runtime")


@tool
def search(query: str) -> str:
    """Search the handbook.

    Args:
        query: What to look for.
    """
    found = _runtime.retrieve(knowledgeBaseId=sys.argv[1], retrievalQuery={"text": query})
    return "\n".join(each["content"]["text"] for each in found["retrievalResults"])


model = BedrockModel(model_id="anthropic.claude-3-haiku-20240307-v1:0")
agent = Agent(model=model, tools=[search], callback_handler=None)
print(agent("What does parking cost?"))
