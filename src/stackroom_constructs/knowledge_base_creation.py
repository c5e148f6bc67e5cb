"""A knowledge base that is to be made: of which documents, and how they are read, cut, embedded."""

from dataclasses import dataclass
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    check_choice,
    check_flag,
    check_index_name,
    check_name,
    check_range,
    check_said,
)
from stackroom_constructs.bedrock_model import TITAN, BedrockModel, check_dimensions
from stackroom_constructs.chunking import Chunking, Strategy
from stackroom_constructs.parsing import Parser, Parsing
from stackroom_constructs.vector_stores import VectorStore

MANAGED_MODEL = "managed"
# S3Prefix of AWS::Bedrock::DataSource in CloudFormation.
_LONGEST_PREFIX = 300


@dataclass(frozen=True, kw_only=True)
class KnowledgeBaseCreation:
    """
    What `BedrockKnowledgeBase(create=...)` makes: a vector index, a service role with the rights
    that follow from the rest, the knowledge base, and one data source. Chunking and parsing can't
    be changed later: CloudFormation would replace the data source, and fail on its name.

    A document of an S3 data source is found after an ingestion job (StartIngestionJob, with
    `.knowledge_base_id` and `.data_source_id`); nothing starts one but `ingest_on_upload`. Bedrock
    reads .txt,
    .md, .html, .doc, .docx, .csv, .xls, .xlsx and .pdf of at most 50 MB, and with a file its
    `{file}.metadata.json` of at most 10 KB, of which an S3 Vectors index takes 1 KB. There no
    filter may name what Bedrock writes itself, but x-amz-bedrock-kb-data-source-id.
    https://docs.aws.amazon.com/bedrock/latest/userguide/knowledge-base-ds.html

    The knowledge base has the tag `mcp-multirag-kb`, by which AWS Labs' MCP server finds it; a
    stack takes it away with `Tags.of(construct).remove("mcp-multirag-kb")`.

    bucket: where the documents are; in the same account and region. If it has a KMS key, the role
        may decrypt with it.
    prefix: which keys are read, at most 300 characters. In the role's rights `*`, `?` and `${`
        stand for more than themselves: a prefix with one takes `readable_objects`. Default: all.
    data_source_type: `S3`: ingestion jobs read what lies below the prefix; `CUSTOM`: documents
        are handed over one by one, by IngestKnowledgeBaseDocuments; whoever calls it, or
        DeleteKnowledgeBaseDocuments, needs the right to StartIngestionJob, too.
    data_source_name: its name, unlike that of any other in the knowledge base.
    data_source_description: at most 200 characters. Default: none.
    ingest_on_upload: whether an ingestion job starts by itself when files come, are replaced or go:
        a rule of EventBridge, a queue and a function of a few lines. While Bedrock takes no job, as
        one runs or others have the account's, events wait in the queue. Of `S3`. A bucket that the
        app doesn't make must send its events to EventBridge already. Default: off.
    most_deleted: percent of the documents that one ingestion job of a MANAGED knowledge base may
        delete, 0 to 100: one that finds more of them gone deletes none, and ends all the same. Of
        `S3`. Default: any number goes, as everywhere else.
        https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_DeletionProtectionConfiguration.html
    readable_objects: ARN, or pattern of it, of the objects that the role may read. Default: those
        below the prefix.
    embedding_model: id of the model that embeds chunks and questions; `managed` leaves the choice
        to a MANAGED knowledge base.
    dimensions: numbers of an embedding, 1 to 4,096; Titan Text Embeddings V2 has 256, 512, 1,024.
    chunking: how documents are cut: `fixed` size; `hierarchical`: small chunks are found, their
        parents shown; `semantic`: where the subject changes; `none`: a document is one chunk;
        `default`: Bedrock's own, about 300 tokens that end with a sentence. A MANAGED knowledge
        base with the embedding model `managed` takes no other than 300 tokens, 20 % of overlap.
    max_tokens: of a chunk, 1 to 8,192. Of `fixed` and `semantic`.
    overlap_percentage: how much of a chunk the next one repeats, 1 to 99. Of `fixed`.
    parent_tokens: of a parent, 1 to 8,192; on S3 Vectors at most 8,000 together with
        child_tokens. Of `hierarchical`.
    child_tokens: of a child, 1 to 8,192, and no more than a parent's. Of `hierarchical`.
    overlap_tokens: how many tokens a chunk repeats of the one before it, at least 1. Of
        `hierarchical`.
    buffer_size: sentences on each side that a sentence is compared with, 0 or 1. Of `semantic`,
        which costs calls of a model.
    breakpoint_percentile: a chunk ends where two sentences are less alike than this share of all
        neighbours, 50 to 99. Of `semantic`.
    parsing: what makes text of a document: `default`, which needs text in it;
        `bedrock_data_automation` or `foundation_model`, which read pictures of text, too, and cost
        by the page. A job takes at most 1,000 files with either; one that they can't read is
        parsed by default. https://docs.aws.amazon.com/general/latest/gr/bedrock.html
    parsing_model: id of the model of `foundation_model`.
    parsing_prompt: what it is told, at most 10,000 characters. Default: Bedrock's own words.
    store: where vectors are kept, for the vector_store_type of the same name. Default: for
        S3_VECTORS an index made for it; MANAGED needs none.
    vector_bucket_arn: S3 Vectors bucket of the index; not that of Stackroom's own pool, whose
        policy admits its own roles alone. Default: one made for it.
    vector_key: KMS key of that bucket, which the role may then decrypt with. Its policy must let
        S3 Vectors do so, too.
        https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-data-encryption.html
    index_name: of that index, 3 to 63 lower-case letters, digits, `.`, `-`. Default:
        CloudFormation's choice.
    removal_policy: what becomes of it all with the stack. Kept, by default: an index is the result
        of paid work.

    Raises InvalidArgument.
    """

    bucket: s3.IBucket
    prefix: str = ""
    data_source_type: Literal["S3", "CUSTOM"] = "S3"
    data_source_name: str = "documents"
    data_source_description: str | None = None
    ingest_on_upload: bool = False
    most_deleted: int | None = None
    readable_objects: str | None = None
    embedding_model: str = TITAN
    dimensions: int = 1024
    chunking: Strategy = "fixed"
    max_tokens: int = 300
    overlap_percentage: int = 20
    parent_tokens: int = 1500
    child_tokens: int = 300
    overlap_tokens: int = 60
    buffer_size: int = 0
    breakpoint_percentile: int = 95
    parsing: Parser = "default"
    parsing_model: str | None = None
    parsing_prompt: str | None = None
    store: VectorStore | None = None
    vector_bucket_arn: str | None = None
    vector_key: kms.IKey | None = None
    index_name: str | None = None
    removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_choice(owner, "data_source_type", self.data_source_type, ("S3", "CUSTOM"))
        check_name(owner, "data_source_name", self.data_source_name)
        check_flag(owner, "ingest_on_upload", self.ingest_on_upload)
        if self.ingest_on_upload and self.data_source_type != "S3":
            allowed = "left out with CUSTOM, whose documents are handed over one by one"
            raise InvalidArgument(owner, "ingest_on_upload", self.ingest_on_upload, allowed)
        if self.data_source_description is not None:
            check_said(owner, "data_source_description", self.data_source_description, 200)
        if self.most_deleted is not None:
            check_range(owner, "most_deleted", self.most_deleted, 0, 100)
        if self.prefix:
            check_said(owner, "prefix", self.prefix, _LONGEST_PREFIX)
            self._check_prefix(owner)
        self._check_bucket(owner)
        if self.index_name is not None:
            check_index_name(owner, self.index_name)
        self._check_embedding(owner)
        _ = self.chunks, self.parser  # which know what they may be

    @property
    def chunks(self) -> Chunking:
        return Chunking(
            strategy=self.chunking,
            max_tokens=self.max_tokens,
            overlap_percentage=self.overlap_percentage,
            parent_tokens=self.parent_tokens,
            child_tokens=self.child_tokens,
            overlap_tokens=self.overlap_tokens,
            buffer_size=self.buffer_size,
            breakpoint_percentile=self.breakpoint_percentile,
            owner=type(self).__name__,
        )

    @property
    def parser(self) -> Parsing:
        return Parsing(
            parser=self.parsing,
            model=self.parsing_model,
            prompt=self.parsing_prompt,
            owner=type(self).__name__,
        )

    @property
    def model(self) -> BedrockModel | None:
        """None for the one that a MANAGED knowledge base chooses."""
        if self.embedding_model == MANAGED_MODEL:
            return None
        return BedrockModel.of(self.embedding_model)

    @property
    def objects_arn(self) -> str:
        return self.readable_objects or self.bucket.arn_for_objects(f"{self.prefix}*")

    def _check_bucket(self, owner: str) -> None:
        if not hasattr(self.bucket, "bucket_arn"):
            allowed = "a bucket; one that exists is Bucket.from_bucket_name(...)"
            raise InvalidArgument(owner, "bucket", self.bucket, allowed)

    def _check_prefix(self, owner: str) -> None:
        """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html"""
        if self.readable_objects is not None or cdk.Token.is_unresolved(self.prefix):
            return
        if any(each in self.prefix for each in ("*", "?", "${")):
            allowed = "free of *, ? and ${, unless readable_objects says what the role may read"
            raise InvalidArgument(owner, "prefix", self.prefix, allowed)

    def _check_embedding(self, owner: str) -> None:
        try:
            _ = self.model
        except ValueError as error:
            allowed = f"the id of a model of Bedrock, or {MANAGED_MODEL!r}"
            raise InvalidArgument(
                owner, "embedding_model", self.embedding_model, allowed
            ) from error
        check_dimensions(owner, "dimensions", self.dimensions, model=self.embedding_model)
