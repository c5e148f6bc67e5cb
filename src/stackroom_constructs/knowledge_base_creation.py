"""The description of a knowledge base to create: its documents, parsing, chunking and embedding."""

from dataclasses import dataclass
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    check_choice,
    check_index_name,
    check_name,
    check_text,
)
from stackroom_constructs.bedrock_model import TITAN, BedrockModel, check_dimensions
from stackroom_constructs.chunking import Chunking, Strategy
from stackroom_constructs.parsing import Parser, Parsing
from stackroom_constructs.vector_stores import VectorStore

MANAGED_MODEL = "managed"
# S3Prefix of AWS::Bedrock::DataSource in CloudFormation.
_MAX_PREFIX = 300


@dataclass(frozen=True, kw_only=True)
class KnowledgeBaseCreation:
    """
    The resources that `create` makes: a vector index, a service role, the knowledge base and a data
    source. Chunking and parsing can't be changed later: CloudFormation would replace the data
    source and fail on its name.

    A document of an S3 data source is found after an ingestion job (StartIngestionJob, with
    `.knowledge_base_id` and `.data_source_id`); nothing here starts one. Bedrock reads .txt, .md,
    .html, .doc, .docx, .csv, .xls, .xlsx and .pdf of at most 50 MB, and with a file its
    `{file}.metadata.json` of at most 10 KB, of which an S3 Vectors index takes 1 KB. There no
    filter may name what Bedrock writes itself, but x-amz-bedrock-kb-data-source-id.
    https://docs.aws.amazon.com/bedrock/latest/userguide/knowledge-base-ds.html

    The knowledge base has the tag `mcp-multirag-kb`, by which AWS Labs' MCP server finds it; a
    stack takes it away with `Tags.of(construct).remove("mcp-multirag-kb")`.

    bucket: In the same account and region; the role may use its KMS key.
    prefix: At most 300 characters; with `*`, `?` or `${` also pass `readable_objects`.
    readable_objects: ARN or pattern of what the role may read, instead of the prefix.
    data_source_type: Jobs read `S3`; `CUSTOM` takes IngestKnowledgeBaseDocuments, whose caller also
        needs bedrock:StartIngestionJob.
    data_source_name, data_source_description: Description: at most 200 characters.
    embedding_model: For chunks and questions; `managed` lets a MANAGED knowledge base choose.
    dimensions: 1 to 4,096; Titan V2: 256, 512, 1,024.
    chunking: `hierarchical` finds small chunks and returns their parents, `semantic` cuts where the
        subject changes, `none` not at all, `default` after about 300 tokens at a sentence's end.
        Model `managed`: only 300 tokens, 20 % overlap.
    max_tokens, overlap_percentage: Size of `fixed` and `semantic` chunks, 1 to 8,192; overlap of
        `fixed` ones, 1 to 99.
    parent_tokens, child_tokens, overlap_tokens: `hierarchical`: 1 to 8,192; on S3 Vectors parent
        plus child at most 8,000.
    buffer_size, breakpoint_percentile: `semantic`: sentences compared on each side, 0 or 1;
        percentile of difference that ends a chunk, 50 to 99.
    parsing: `default` reads text only; the others also images, cost per page and take at most 1,000
        files a job.
    parsing_model, parsing_prompt: For `foundation_model`; prompt: at most 10,000 characters.
    store: For the `vector_store_type` of that name.
    vector_bucket_arn, vector_key, index_name: A bucket other than Stackroom's; its KMS key, whose
        policy must admit S3 Vectors; the index's name: 3 to 63 lower-case letters,
        digits, `.`, `-`.
    removal_policy: Of everything made.

    https://docs.aws.amazon.com/general/latest/gr/bedrock.html
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-data-encryption.html

    Raises InvalidArgument.
    """

    bucket: s3.IBucket
    prefix: str = ""
    data_source_type: Literal["S3", "CUSTOM"] = "S3"
    data_source_name: str = "documents"
    data_source_description: str | None = None
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
        if self.data_source_description is not None:
            check_text(owner, "data_source_description", self.data_source_description, 200)
        if self.prefix:
            check_text(owner, "prefix", self.prefix, _MAX_PREFIX)
            self._check_prefix(owner)
        self._check_bucket(owner)
        if self.index_name is not None:
            check_index_name(owner, self.index_name)
        self._check_embedding(owner)
        _ = self.chunks, self.parser  # validates them

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
        """The embedding model; None for the one that a MANAGED knowledge base chooses."""
        if self.embedding_model == MANAGED_MODEL:
            return None
        return BedrockModel.of(self.embedding_model)

    @property
    def objects_arn(self) -> str:
        return self.readable_objects or self.bucket.arn_for_objects(f"{self.prefix}*")

    def _check_bucket(self, owner: str) -> None:
        if not hasattr(self.bucket, "bucket_arn"):
            allowed = "a bucket; for an existing one use Bucket.from_bucket_name(...)"
            raise InvalidArgument(owner, "bucket", self.bucket, allowed)

    def _check_prefix(self, owner: str) -> None:
        """
        Refuse IAM's wildcards and variables in the prefix.

        https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
        """
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
