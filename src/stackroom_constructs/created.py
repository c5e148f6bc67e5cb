"""The resources of a knowledge base that is made: its index, its role, itself, a data source."""

from collections.abc import Iterable
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_bedrock as bedrock
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from stackroom_constructs.creation import KnowledgeBaseCreation
from stackroom_constructs.data_source import data_source
from stackroom_constructs.model import Right
from stackroom_constructs.on_upload import IngestionOnUpload
from stackroom_constructs.refusals import InvalidArgument
from stackroom_constructs.resource import knowledge_base_resource
from stackroom_constructs.service_role import ServiceRole
from stackroom_constructs.source_rights import rights_to_read
from stackroom_constructs.vector_index import right_to_fill, vector_index


@dataclass(frozen=True, kw_only=True)
class CreatedKnowledgeBase:
    """`index` is None where vectors are kept elsewhere. `creation` is what it was made by."""

    creation: KnowledgeBaseCreation
    role: ServiceRole
    index: s3vectors.CfnIndex | None
    knowledge_base: bedrock.CfnKnowledgeBase
    data_source: bedrock.CfnDataSource


def created(
    scope: Construct,
    creation: KnowledgeBaseCreation,
    *,
    vector_store_type: str,
    name: str,
    description: str,
    rights: Iterable[Right],
) -> CreatedKnowledgeBase:
    """
    Made in `scope`, with these `rights` beside those that follow from what it is.

    Raises InvalidArgument for what that store doesn't take.
    """
    _check_store(scope, creation, vector_store_type)
    index = _index(scope, creation) if vector_store_type == "S3_VECTORS" else None
    role = ServiceRole(scope, "Role", rights=[*_rights(scope, creation, index), *rights])
    knowledge_base = knowledge_base_resource(
        scope,
        creation,
        vector_store_type=vector_store_type,
        name=name,
        description=description,
        role_arn=role.role_arn,
        index=index,
    )
    source = data_source(
        scope,
        creation,
        knowledge_base_id=knowledge_base.attr_knowledge_base_id,
        vector_store_type=vector_store_type,
    )
    needed = [role] if index is None else [role, index]
    for each in needed:
        # A knowledge base without its role's rights or its index can't delete its vectors any
        # more, and the deletion of its data source ends in DELETE_UNSUCCESSFUL.
        # https://docs.aws.amazon.com/bedrock/latest/userguide/kb-ds-delete.html
        knowledge_base.node.add_dependency(each)
        source.node.add_dependency(each)
    for each in (*needed, knowledge_base, source):
        each.apply_removal_policy(creation.removal_policy)
    if creation.ingest_on_upload:
        IngestionOnUpload(
            scope,
            "OnUpload",
            creation=creation,
            knowledge_base_id=knowledge_base.attr_knowledge_base_id,
            knowledge_base_arn=knowledge_base.attr_knowledge_base_arn,
            data_source_id=source.attr_data_source_id,
        )
    if warning := creation.chunks.warning(vector_store_type):
        cdk.Annotations.of(scope).add_warning_v2("stackroom:hierarchical-chunks", warning)
    return CreatedKnowledgeBase(
        creation=creation,
        role=role,
        index=index,
        knowledge_base=knowledge_base,
        data_source=source,
    )


def _check_store(scope: Construct, creation: KnowledgeBaseCreation, store_type: str) -> None:
    creation.chunks.check_store(store_type)
    creation.parser.check_store(store_type)
    store = creation.store
    kept_in = getattr(store, "vector_store_type", None)
    if store_type in ("OPENSEARCH_SERVERLESS", "RDS"):
        if kept_in != store_type:
            needed = "OpenSearchServerlessStore" if store_type != "RDS" else "RdsStore"
            raise InvalidArgument(scope, "create.store", store, f"an {needed}, for {store_type}")
    elif store is not None:
        allowed = f"left out, since vector_store_type is {store_type!r} and not {kept_in!r}"
        raise InvalidArgument(scope, "create.store", store, allowed)
    if creation.model is None and store_type != "MANAGED":
        allowed = "the id of a model, since only a MANAGED knowledge base chooses one"
        raise InvalidArgument(scope, "create.embedding_model", creation.embedding_model, allowed)
    if creation.most_deleted is not None and (
        store_type != "MANAGED" or creation.data_source_type != "S3"
    ):
        allowed = "left out but for a MANAGED knowledge base with the data source type 'S3'"
        raise InvalidArgument(scope, "create.most_deleted", creation.most_deleted, allowed)
    if creation.model is None and not creation.chunks.is_bedrocks_own:
        # Users report that it is refused, though the guide has it configurable.
        allowed = "default, or fixed with 300 tokens and 20 %, where the service's model embeds"
        raise InvalidArgument(scope, "create.chunking", creation.chunking, allowed)


def _index(scope: Construct, creation: KnowledgeBaseCreation) -> s3vectors.CfnIndex:
    bucket_arn = creation.vector_bucket_arn
    if bucket_arn is None:
        bucket = s3vectors.CfnVectorBucket(
            scope,
            "Vectors",
            encryption_configuration=s3vectors.CfnVectorBucket.EncryptionConfigurationProperty(
                sse_type="AES256"
            ),
        )
        bucket.apply_removal_policy(creation.removal_policy)
        bucket_arn = bucket.attr_vector_bucket_arn
    return vector_index(
        scope,
        "Index",
        vector_bucket_arn=bucket_arn,
        name=creation.index_name,
        dimensions=creation.dimensions,
    )


def _rights(
    scope: Construct, creation: KnowledgeBaseCreation, index: s3vectors.CfnIndex | None
) -> list[Right]:
    embedding = () if creation.model is None else creation.model.rights(scope)
    kept = () if creation.store is None else creation.store.rights
    return [
        *embedding,
        *rights_to_read(scope, creation),
        *kept,
        *(() if index is None else (right_to_fill(index),)),
        *creation.parser.rights(scope),
    ]
