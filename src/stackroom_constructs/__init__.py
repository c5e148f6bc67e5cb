"""
Agents and their knowledge bases, as CDK constructs for anyone's app.

- batch_agent: a function that runs an agent on each event
- interactive_agent: a process in AgentCore Runtime, which streams its answers to people
- agent, agent_definition, network: what every agent has, what it is told, where it runs
- given, environment: its knowledge bases held together, within the 4 KB of a function's variables
- agent_logs, agent_queues, model: its log, its queues, the model that it may ask
- agent_bundle, bundling, packages: the zip of its function
- knowledge_base: what an agent needs to know of a knowledge base, whoever makes it
- bedrock_knowledge_base: one of Amazon Bedrock, that exists or is made
- vector_index_knowledge_base: an index of S3 Vectors, searched without Bedrock's Retrieve
- pgvector_knowledge_base: tables in PostgreSQL with pgvector
- opensearch_knowledge_base: an index of OpenSearch Serverless, searched without Bedrock, too
- own_store, embedding: what all have that Stackroom searches in their stores itself
- searching, guarding, search_options, retrieval_filters: how it is searched, and what that takes
- served: what Stackroom's own tool reads of anybody's configuration
- creation, chunking, parsing, stores: what is to be made
- created, resource, data_source, ingestion, service_role, source_rights, vector_index: its making
- on_upload: what starts its ingestion jobs
- stated_rights, acknowledgments: findings of cdk-nag that are right as they are
- refusals: what is wrong with an argument

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

from stackroom_constructs.agent import BaseAgent
from stackroom_constructs.agent_definition import AgentDefinitionProps
from stackroom_constructs.batch_agent import BatchAgent, InvokeType
from stackroom_constructs.bedrock_knowledge_base import BedrockKnowledgeBase
from stackroom_constructs.creation import KnowledgeBaseCreation
from stackroom_constructs.interactive_agent import InteractiveAgent
from stackroom_constructs.knowledge_base import BaseKnowledgeBase, IKnowledgeBase, RetrievalTool
from stackroom_constructs.model import BedrockModel
from stackroom_constructs.network import AgentNetwork
from stackroom_constructs.opensearch_knowledge_base import OpenSearchKnowledgeBase
from stackroom_constructs.pgvector_knowledge_base import PgvectorKnowledgeBase
from stackroom_constructs.refusals import InvalidArgument, TooLarge
from stackroom_constructs.search_options import ImplicitFilter, MetadataAttribute, Reranking
from stackroom_constructs.stores import OpenSearchServerlessStore, RdsStore
from stackroom_constructs.vector_index_knowledge_base import VectorIndexKnowledgeBase

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
