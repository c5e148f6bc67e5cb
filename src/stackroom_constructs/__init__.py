"""
CDK constructs for agents and their knowledge bases, for any app.

- batch_agent: a function that runs an agent on each event
- interactive_agent: a process in AgentCore Runtime that streams answers to people
- base_agent, agent_definition, agent_network: what all agents share, their definition and VPC
- agent_knowledge_bases, environment: an agent's knowledge bases, within a function's 4 KB
- bedrock_model: a model, and the rights to invoke it
- bundling: the zip of a function
- base_knowledge_base: what an agent needs to know about any knowledge base
- bedrock_knowledge_base: a knowledge base of Amazon Bedrock, existing or created
- own_store_knowledge_base: the base of knowledge bases that Stackroom searches in their stores
- vector_index_knowledge_base: an index of S3 Vectors, searched without Bedrock's Retrieve
- pgvector_knowledge_base: tables in PostgreSQL with pgvector
- opensearch_knowledge_base: an index of OpenSearch Serverless, also searched without Retrieve
- search_options: options of searches, and the rights that they need
- knowledge_base_creation, chunking, parsing, vector_stores: what to create
- created_knowledge_base: the created resources
- acknowledgments: accepted findings of cdk-nag
- argument_checks: validation of arguments

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

The package imports the CDK, and nothing of Stackroom's other packages. It needs the extra `infra`.
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
