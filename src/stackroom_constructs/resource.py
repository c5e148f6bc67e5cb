"""The knowledge base itself, as CloudFormation makes it."""

from aws_cdk import aws_bedrock as bedrock
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from stackroom_constructs.creation import KnowledgeBaseCreation
from stackroom_constructs.ingestion import in_cloudformation

_Kb = bedrock.CfnKnowledgeBase
# By which awslabs.bedrock-kb-retrieval-mcp-server finds the knowledge bases that it may search:
# https://awslabs.github.io/mcp/servers/bedrock-kb-retrieval-mcp-server
_FOUND_BY_MCP_SERVER = {"mcp-multirag-kb": "true"}


def knowledge_base_resource(
    scope: Construct,
    creation: KnowledgeBaseCreation,
    *,
    vector_store_type: str,
    name: str,
    description: str,
    role_arn: str,
    index: s3vectors.CfnIndex | None,
) -> bedrock.CfnKnowledgeBase:
    """It keeps vectors in the index, in the store of `creation`, or, MANAGED, where it likes."""
    made = bedrock.CfnKnowledgeBase(
        scope,
        "KnowledgeBase",
        name=name,
        description=description,
        role_arn=role_arn,
        knowledge_base_configuration=_configuration(scope, creation, vector_store_type),
        storage_configuration=None if index is None else _in_index(index),
        tags=_FOUND_BY_MCP_SERVER,
    )
    if creation.store is not None:
        kept = in_cloudformation(creation.store.configuration)
        made.add_property_override("StorageConfiguration", kept)
    return made


def _configuration(
    scope: Construct, creation: KnowledgeBaseCreation, vector_store_type: str
) -> _Kb.KnowledgeBaseConfigurationProperty:
    if creation.model is None:
        return _managed(
            _Kb.ManagedKnowledgeBaseConfigurationProperty(embedding_model_type="MANAGED")
        )
    arn = creation.model.arn(scope)
    numbers = _Kb.EmbeddingModelConfigurationProperty(
        bedrock_embedding_model_configuration=_Kb.BedrockEmbeddingModelConfigurationProperty(
            dimensions=creation.dimensions, embedding_data_type="FLOAT32"
        )
    )
    if vector_store_type == "MANAGED":
        return _managed(
            _Kb.ManagedKnowledgeBaseConfigurationProperty(
                embedding_model_type="CUSTOM",
                embedding_model_arn=arn,
                embedding_model_configuration=numbers,
            )
        )
    return _Kb.KnowledgeBaseConfigurationProperty(
        type="VECTOR",
        vector_knowledge_base_configuration=_Kb.VectorKnowledgeBaseConfigurationProperty(
            embedding_model_arn=arn, embedding_model_configuration=numbers
        ),
    )


def _managed(
    about: _Kb.ManagedKnowledgeBaseConfigurationProperty,
) -> _Kb.KnowledgeBaseConfigurationProperty:
    return _Kb.KnowledgeBaseConfigurationProperty(
        type="MANAGED", managed_knowledge_base_configuration=about
    )


def _in_index(index: s3vectors.CfnIndex) -> _Kb.StorageConfigurationProperty:
    return _Kb.StorageConfigurationProperty(
        type="S3_VECTORS",
        # The ARN alone: with bucket and name beside it CloudFormation refuses.
        s3_vectors_configuration=_Kb.S3VectorsConfigurationProperty(index_arn=index.attr_index_arn),
    )
