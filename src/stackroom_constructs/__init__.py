"""
Agents and their knowledge bases, as CDK constructs for anyone's app.

- batch_agent: a function that runs an agent on each event
- interactive_agent: a process in AgentCore Runtime, which streams its answers to people
- base_agent, agent_definition, agent_network: what every agent has, is told, and runs in
- agent_knowledge_bases, environment: held together, within the 4 KB of a function's variables
- bedrock_model: a model that may be asked
- bundling: the zip of a function
- base_knowledge_base: what an agent needs to know of a knowledge base, whoever makes it
- bedrock_knowledge_base: one of Amazon Bedrock, that exists or is made
- own_store_knowledge_base: what all have that Stackroom searches in their stores itself
- vector_index_knowledge_base: an index of S3 Vectors, searched without Bedrock's Retrieve
- pgvector_knowledge_base: tables in PostgreSQL with pgvector
- opensearch_knowledge_base: an index of OpenSearch Serverless, searched without Bedrock, too
- search_options, retrieval_filters: how it is searched, and what that takes
- knowledge_base_creation, chunking, parsing, vector_stores: what is to be made
- created_knowledge_base, ingestion_on_upload: its making, and what starts its ingestion jobs
- acknowledgments: findings of cdk-nag that are right as they are
- argument_checks: what is wrong with an argument

    from stackroom_constructs import AgentDefinitionProps, BatchAgent, BedrockKnowledgeBase

    handbook = BedrockKnowledgeBase(
        stack, "Handbook", knowledge_base_id="ABCDE12345", description="Rules for all employees."
    )
    definition = AgentDefinitionProps(
        bedrock_model="global.amazon.nova-2-lite-v1:0",
        system_prompt=Asset(stack, "SystemPrompt", path="system_prompt.txt"),
        knowledge_bases=[handbook],
    )
    BatchAgent(
        stack, "Answers", agent_name="answers", agent_definition=definition, prompt="Answer this."
    )

Imports the CDK, and nothing of Stackroom's other packages. Needs the extra `infra`.
"""

from stackroom_constructs.agent_definition import AgentDefinitionProps
from stackroom_constructs.agent_network import AgentNetwork
from stackroom_constructs.argument_checks import InvalidArgument, TooLarge
from stackroom_constructs.base_agent import BaseAgent
from stackroom_constructs.base_knowledge_base import (
    BaseKnowledgeBase,
    IKnowledgeBase,
    RetrievalTool,
)
from stackroom_constructs.batch_agent import BatchAgent, InvokeType
from stackroom_constructs.bedrock_knowledge_base import BedrockKnowledgeBase
from stackroom_constructs.bedrock_model import BedrockModel
from stackroom_constructs.interactive_agent import InteractiveAgent
from stackroom_constructs.knowledge_base_creation import KnowledgeBaseCreation
from stackroom_constructs.opensearch_knowledge_base import OpenSearchKnowledgeBase
from stackroom_constructs.pgvector_knowledge_base import PgvectorKnowledgeBase
from stackroom_constructs.search_options import ImplicitFilter, MetadataAttribute, Reranking
from stackroom_constructs.vector_index_knowledge_base import VectorIndexKnowledgeBase
from stackroom_constructs.vector_stores import OpenSearchServerlessStore, RdsStore

__all__ = [
    "AgentDefinitionProps",
    "AgentNetwork",
    "BaseAgent",
    "BaseKnowledgeBase",
    "BatchAgent",
    "BedrockKnowledgeBase",
    "BedrockModel",
    "IKnowledgeBase",
    "ImplicitFilter",
    "InteractiveAgent",
    "InvalidArgument",
    "InvokeType",
    "KnowledgeBaseCreation",
    "MetadataAttribute",
    "OpenSearchKnowledgeBase",
    "OpenSearchServerlessStore",
    "PgvectorKnowledgeBase",
    "RdsStore",
    "Reranking",
    "RetrievalTool",
    "TooLarge",
    "VectorIndexKnowledgeBase",
]
