"""The resources of a created knowledge base: index, role, knowledge base, and data source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_bedrock as bedrock
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct, IConstruct

from stackroom_constructs.acknowledgments import accept_wildcard
from stackroom_constructs.argument_checks import InvalidArgument
from stackroom_constructs.bedrock_model import Right
from stackroom_constructs.chunking import Chunking
from stackroom_constructs.knowledge_base_creation import KnowledgeBaseCreation
from stackroom_constructs.parsing import Parsing

# The knowledge base itself, as CloudFormation creates it.

_Kb = bedrock.CfnKnowledgeBase
# The tag by which awslabs.bedrock-kb-retrieval-mcp-server finds knowledge bases:
# https://awslabs.github.io/mcp/servers/bedrock-kb-retrieval-mcp-server
_MCP_SERVER_TAG = {"mcp-multirag-kb": "true"}


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
    """
    Create the knowledge base; vectors are in the index, in the store of `creation`, or managed.
    """
    resource = bedrock.CfnKnowledgeBase(
        scope,
        "KnowledgeBase",
        name=name,
        description=description,
        role_arn=role_arn,
        knowledge_base_configuration=_configuration(scope, creation, vector_store_type),
        storage_configuration=None if index is None else _in_index(index),
        tags=_MCP_SERVER_TAG,
    )
    if creation.store is not None:
        storage = in_cloudformation(creation.store.configuration)
        resource.add_property_override("StorageConfiguration", storage)
    return resource


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
        # The ARN alone: CloudFormation refuses it together with bucket and name.
        s3_vectors_configuration=_Kb.S3VectorsConfigurationProperty(index_arn=index.attr_index_arn),
    )


# The documents of a knowledge base, and how they become chunks.

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
        # Vectors that outlive their data source would still be found.
        data_deletion_policy="DELETE",
        data_source_configuration=(
            _connector_source(scope, creation) if managed else _plain_source(creation)
        ),
    )
    chosen = vector_ingestion(scope, creation.chunks, creation.parser)
    # The service's own model takes no chunking settings, since it chunks by itself.
    if chosen is not None and creation.model is not None:
        source.add_property_override("VectorIngestionConfiguration", in_cloudformation(chosen))
    return source


def _plain_source(creation: KnowledgeBaseCreation) -> _Source:
    if creation.data_source_type == "CUSTOM":
        return _Source(type="CUSTOM")
    return _Source(
        type="S3",
        s3_configuration=bedrock.CfnDataSource.S3DataSourceConfigurationProperty(
            bucket_arn=creation.bucket.bucket_arn,
            inclusion_prefixes=[creation.prefix] if creation.prefix else None,
        ),
    )


def _connector_source(scope: Construct, creation: KnowledgeBaseCreation) -> _Source:
    """
    Return the source of a MANAGED knowledge base, which accepts only a connector.

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
        # Explicit, since AWS documents no default.
        protection = bedrock.CfnDataSource.DeletionProtectionConfigurationProperty(
            deletion_protection_status="DISABLED"
        )
    connector = bedrock.CfnDataSource.ManagedKnowledgeBaseConnectorConfigurationProperty(
        connector_parameters=parameters, deletion_protection_configuration=protection
    )
    return _Source(
        type="MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        managed_knowledge_base_connector_configuration=connector,
    )


# The role with which Bedrock works for a knowledge base.


class ServiceRole(iam.Role):
    """
    A role that only Bedrock may assume, for knowledge bases of this account and region.

    It has exactly these rights; a right with a wildcard has a reason.
    """

    def __init__(self, scope: Construct, construct_id: str, *, rights: Iterable[Right]) -> None:
        rights = list(rights)
        super().__init__(
            scope,
            construct_id,
            assumed_by=_bedrock_in(cdk.Stack.of(scope)),
            # Inline, so that the rights exist as soon as the role does.
            inline_policies={
                "Ingestion": iam.PolicyDocument(statements=[each.statement() for each in rights])
            },
        )
        for right in rights:
            for arn in right.resources:
                if "*" in arn:
                    assert right.because, f"{arn} has a wildcard and needs a reason"
                    accept_wildcard(self, arn, because=right.because)


def _bedrock_in(stack: cdk.Stack) -> iam.ServicePrincipal:
    caller = {
        "StringEquals": {"aws:SourceAccount": stack.account},
        "ArnLike": {
            "aws:SourceArn": stack.format_arn(
                service="bedrock", resource="knowledge-base", resource_name="*"
            )
        },
    }
    return iam.ServicePrincipal("bedrock.amazonaws.com", conditions=caller)


# The rights of a service role to read documents.


def read_rights(scope: Construct, creation: KnowledgeBaseCreation) -> list[Right]:
    """
    Return the rights to read documents.

    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
    """
    stack = cdk.Stack.of(scope)
    in_account = {"StringEquals": {"aws:ResourceAccount": stack.account}}
    rights = [
        Right(
            actions=("s3:ListBucket",), resources=(creation.bucket.bucket_arn,), where=in_account
        ),
        Right(
            actions=("s3:GetObject",),
            resources=(creation.objects_arn,),
            where=in_account,
            because="A data source reads any key below its prefix; it only reads, and only in this"
            " account.",
        ),
    ]
    key = creation.bucket.encryption_key
    if key is not None:
        by_s3 = {"StringEquals": {"kms:ViaService": f"s3.{stack.region}.{stack.url_suffix}"}}
        rights.append(Right(actions=("kms:Decrypt",), resources=(key.key_arn,), where=by_s3))
    return rights


# The S3 Vectors index of a knowledge base, and the right to write it.

# At most ten, and final: another list makes another index. A vector has 2 KB of filterable
# metadata; a document whose vectors have more is lost, though its status says INDEXED. So the keys
# that Bedrock writes by itself are not filterable, whatever their size: nobody filters by them. The
# 2 KB are for documents' own metadata, which is 1 KB at most, and for
# x-amz-bedrock-kb-data-source-id, of 44 bytes, the one key of Bedrock's by which others filter.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html (the first two)
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-limitations.html
# The others but the last were seen in such a list (2026-03), in the guide that is named below.
_NOT_FILTERABLE = [
    "AMAZON_BEDROCK_TEXT",
    "AMAZON_BEDROCK_METADATA",  # with the parent's text, if chunks have one
    "x-amz-bedrock-kb-source-uri",  # a key of up to 1,024 bytes
    "x-amz-bedrock-kb-document-page-number",
    "x-amz-bedrock-kb-chunk-id",
    "x-amz-bedrock-kb-source-file-modality",
    "x-amz-bedrock-kb-source-file-mime-type",  # of images
]


def vector_index(
    scope: Construct,
    construct_id: str,
    *,
    vector_bucket_arn: str,
    name: str | None,
    dimensions: int,
) -> s3vectors.CfnIndex:
    return s3vectors.CfnIndex(
        scope,
        construct_id,
        vector_bucket_arn=vector_bucket_arn,
        index_name=name,
        data_type="float32",
        dimension=dimensions,
        distance_metric="cosine",
        metadata_configuration=s3vectors.CfnIndex.MetadataConfigurationProperty(
            non_filterable_metadata_keys=_NOT_FILTERABLE
        ),
    )


def index_right(index: s3vectors.CfnIndex) -> Right:
    """
    Return Bedrock's right to fill, search and clean up an index.

    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html

    That page doesn't name ListVectors; without it a deployment in Tokyo had 403 (2026-03):
    github.com/Yoshiki0705/Permission-aware-RAG-FSxN-CDK, s3-vectors-sid-architecture-guide.md
    """
    return Right(
        actions=(
            "s3vectors:PutVectors",
            "s3vectors:GetVectors",
            "s3vectors:DeleteVectors",
            "s3vectors:QueryVectors",
            "s3vectors:GetIndex",
            "s3vectors:ListVectors",
        ),
        resources=(index.attr_index_arn,),
    )


def index_rights(
    scope: Construct, creation: KnowledgeBaseCreation, index: s3vectors.CfnIndex
) -> list[Right]:
    rights, key = [index_right(index)], creation.vector_key
    if key is not None:
        stack = cdk.Stack.of(scope)
        by_s3vectors = {
            "StringEquals": {"kms:ViaService": f"s3vectors.{stack.region}.{stack.url_suffix}"}
        }
        rights.append(Right(actions=("kms:Decrypt",), resources=(key.key_arn,), where=by_s3vectors))
    return rights


# The ingestion settings of a data source, for Bedrock's API and for CloudFormation.


def vector_ingestion(
    scope: IConstruct, chunking: Chunking, parsing: Parsing
) -> dict[str, Any] | None:
    """Return `vectorIngestionConfiguration` of CreateDataSource; None for Bedrock's defaults."""
    chosen = {
        "chunkingConfiguration": chunking.configuration,
        "parsingConfiguration": parsing.configuration(scope),
    }
    return {name: each for name, each in chosen.items() if each is not None} or None


def in_cloudformation(value: Any) -> Any:
    """Return an API value for a template, in which members start with a capital letter."""
    match value:
        case Mapping():
            return {
                f"{name[0].upper()}{name[1:]}": in_cloudformation(member)
                for name, member in value.items()
            }
        case list():
            return [in_cloudformation(member) for member in value]
        case _:
            return value


@dataclass(frozen=True, kw_only=True)
class CreatedKnowledgeBase:
    """The created resources; `index` is None for other stores than S3 Vectors."""

    creation: KnowledgeBaseCreation
    role: ServiceRole
    index: s3vectors.CfnIndex | None
    knowledge_base: bedrock.CfnKnowledgeBase
    data_source: bedrock.CfnDataSource


def create_knowledge_base(
    scope: Construct,
    creation: KnowledgeBaseCreation,
    *,
    vector_store_type: str,
    name: str,
    description: str,
    rights: Iterable[Right],
) -> CreatedKnowledgeBase:
    """
    Create the resources in `scope`, with further `rights` for the role.

    Raises InvalidArgument for settings that the store doesn't support.
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
        # Without its role's rights or its index, a knowledge base can't delete its vectors, and
        # the deletion of its data source ends in DELETE_UNSUCCESSFUL.
        # https://docs.aws.amazon.com/bedrock/latest/userguide/kb-ds-delete.html
        knowledge_base.node.add_dependency(each)
        source.node.add_dependency(each)
    for each in (*needed, knowledge_base, source):
        each.apply_removal_policy(creation.removal_policy)
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
    own_type = getattr(store, "vector_store_type", None)
    if store_type in ("OPENSEARCH_SERVERLESS", "RDS"):
        if own_type != store_type:
            needed = "OpenSearchServerlessStore" if store_type != "RDS" else "RdsStore"
            raise InvalidArgument(scope, "create.store", store, f"an {needed}, for {store_type}")
    elif store is not None:
        allowed = f"omitted, since vector_store_type is {store_type!r} and not {own_type!r}"
        raise InvalidArgument(scope, "create.store", store, allowed)
    if creation.model is None and store_type != "MANAGED":
        allowed = "the id of a model, since only a MANAGED knowledge base chooses one"
        raise InvalidArgument(scope, "create.embedding_model", creation.embedding_model, allowed)
    if creation.model is None and not creation.chunks.is_default:
        # Users report that it is refused, though the guide says that it is configurable.
        allowed = "default, or fixed with 300 tokens and 20 %, if the service's model embeds"
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
    store_rights = () if creation.store is None else creation.store.rights
    return [
        *embedding,
        *read_rights(scope, creation),
        *store_rights,
        *(() if index is None else index_rights(scope, creation, index)),
        *creation.parser.rights(scope),
    ]
