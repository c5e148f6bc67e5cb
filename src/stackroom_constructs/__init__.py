"""
Knowledge bases for agents, as CDK constructs for anyone's app.

- knowledge_base: what an agent needs to know of a knowledge base, whoever makes it
- bedrock_knowledge_base: one of Amazon Bedrock
- refusals: what is wrong with an argument

    from stackroom_constructs import BedrockKnowledgeBase

    handbook = BedrockKnowledgeBase(
        stack, "Handbook", knowledge_base_id="ABCDE12345", description="Rules for all employees."
    )

Imports the CDK, and nothing of Stackroom's other packages. Needs the extra `infra`.
"""

from stackroom_constructs.bedrock_knowledge_base import BedrockKnowledgeBase
from stackroom_constructs.knowledge_base import BaseKnowledgeBase, IKnowledgeBase, RetrievalTool
from stackroom_constructs.refusals import InvalidArgument

__all__ = [
    "BaseKnowledgeBase",
    "BedrockKnowledgeBase",
    "IKnowledgeBase",
    "InvalidArgument",
    "RetrievalTool",
]
