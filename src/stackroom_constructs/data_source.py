"""Where a knowledge base's documents come from, and how they become chunks."""

import aws_cdk as cdk
from aws_cdk import aws_bedrock as bedrock
from constructs import Construct

from stackroom_constructs.creation import KnowledgeBaseCreation
from stackroom_constructs.ingestion import in_cloudformation, vector_ingestion

_Source = bedrock.CfnDataSource.DataSourceConfigurationProperty


def data_source(
    scope: Construct,
    creation: KnowledgeBaseCreation,
    *,
    knowledge_base_id: str,
    vector_store_type: str,
) -> bedrock.CfnDataSource:
    managed = vector_store_type == "MANAGED"
    source = bedrock.CfnDataSource(
        scope,
        "DataSource",
        knowledge_base_id=knowledge_base_id,
        name=creation.data_source_name,
        description=creation.data_source_description,
        # Vectors that outlived their data source would still be found.
        data_deletion_policy="DELETE",
        data_source_configuration=(
            _by_connector(scope, creation) if managed else _by_type(creation)
        ),
    )
    chosen = vector_ingestion(scope, creation.chunks, creation.parser)
    # The service's own model is told nothing of chunks, and needn't be: they are its own.
    if chosen is not None and creation.model is not None:
        source.add_property_override("VectorIngestionConfiguration", in_cloudformation(chosen))
    return source


def _by_type(creation: KnowledgeBaseCreation) -> _Source:
    if creation.data_source_type == "CUSTOM":
        return _Source(type="CUSTOM")
    return _Source(
        type="S3",
        s3_configuration=bedrock.CfnDataSource.S3DataSourceConfigurationProperty(
            bucket_arn=creation.bucket.bucket_arn,
            inclusion_prefixes=[creation.prefix] if creation.prefix else None,
        ),
    )


def _by_connector(scope: Construct, creation: KnowledgeBaseCreation) -> _Source:
    """
    Of a MANAGED knowledge base, which takes no other.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-ds-s3.html
    """
    parameters: dict[str, object] = {"type": creation.data_source_type, "version": "1"}
    protection = None
    if creation.data_source_type == "S3":
        parameters["connectionConfiguration"] = {
            "bucketName": creation.bucket.bucket_name,
            "bucketOwnerAccountId": cdk.Stack.of(scope).account,
        }
        if creation.prefix:
            parameters["filterConfiguration"] = {"inclusionPrefixes": [creation.prefix]}
        protection = _protection(creation.most_deleted)
    connector = bedrock.CfnDataSource.ManagedKnowledgeBaseConnectorConfigurationProperty(
        connector_parameters=parameters, deletion_protection_configuration=protection
    )
    return _Source(
        type="MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        managed_knowledge_base_connector_configuration=connector,
    )


def _protection(
    most_deleted: int | None,
) -> bedrock.CfnDataSource.DeletionProtectionConfigurationProperty:
    """Said either way: AWS doesn't say what holds where it is left out."""
    return bedrock.CfnDataSource.DeletionProtectionConfigurationProperty(
        deletion_protection_status="DISABLED" if most_deleted is None else "ENABLED",
        deletion_protection_threshold=most_deleted,
    )
