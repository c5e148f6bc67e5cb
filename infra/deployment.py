"""The settings of a deployment, read from the CDK context and checked once."""

import re
from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk
from constructs import Construct

from infra.admission import Admission
from infra.answers import AnswerModel, Guardrail
from infra.callback_urls import callback_urls
from infra.concurrency import Concurrency
from infra.console_settings import ConsoleSettings, upload_origins
from infra.contexts import choice, text
from infra.fitting import Fitting
from infra.ingestion import Ingestion
from infra.operations_settings import OperationsSettings
from infra.pool_type import MANAGED, VECTOR, pool_type
from infra.sign_in_settings import SignInSettings
from infra.vector_cache import VectorCache

# The longest name with it is a role's, `{project}-identity-interceptor-{region}`: 64 at most.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
# The domain of the sign-in pages starts with it, too, and must not contain these words.
# https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-assign-domain-prefix.html
_PROJECT = re.compile(r"(?!.*(aws|amazon|cognito))(?=.{2,20}$)[a-z](-?[a-z0-9])+")

# A template has at most 200 outputs. The stack of the knowledge bases has three of its own and
# exports each member's id, ARN, shared data source and index; with MANAGED members it has one of
# its own, and there is no index.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
_OUTPUTS = 200
LARGEST_POOL = {VECTOR: (_OUTPUTS - 3) // 4, MANAGED: (_OUTPUTS - 1) // 3}


# https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html
_RERANK_MODELS = ("amazon.rerank-v1:0", "cohere.rerank-v3-5:0")
# The ARNs of IAM Identity Center's roles contain a path.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
_ROLE_ARN = re.compile(r"(arn:aws:iam::[0-9]{12}:role/([\w+=,.@-]+/)*[\w+=,.@-]{1,64})?", re.ASCII)
_SHARE = re.compile(r"|0(\.[0-9]{1,4})?|1(\.0{1,4})?")

# The language of documents; "none" tells words apart without knowing the language.
# https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_TextSearchConfiguration.html
_LANGUAGES = ("en", "fr", "es", "pt", "it", "de", "nl", "zh", "ja", "ko", "none")


# Filled by direct calls, filled by ingestion jobs, or one shared by all catalogs.
CATALOG_DATA_SOURCES = ("custom", "s3", "shared")


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """
    A deployment's settings, and the names of resources that stacks can't refer to.

    References between two stacks in both directions would be a cycle.
    """

    project: str
    pool_size: int
    pool_type: str  # "vector" or "managed" [infra/pool_type.py]
    catalog_data_sources: str  # the type of new ones: see CATALOG_DATA_SOURCES
    admission: Admission
    concurrency: Concurrency
    answer_model: AnswerModel
    guardrail: Guardrail | None
    retrieve_via: str  # "s3vectors": query the index; "bedrock": call Retrieve, as for knowledge
    # bases without an index of ours
    retrieve_least_score: str  # passages below it are dropped; "": none is
    fitting: Fitting
    rerank_model: str  # reorders the passages found; "": no reranking
    retrieve_sharing: str  # "on": callers also find what others share with their groups
    vector_cache: VectorCache | None  # None: each function caches questions' vectors by itself
    ingestion: Ingestion
    search_language: str  # of the documents, for text search; "none": no language
    sign_in: SignInSettings
    customer_managed_key: bool  # for all stored data but documents
    callback_urls: tuple[str, ...]  # where a browser may be redirected after a sign-in
    console: ConsoleSettings | None  # None: no console
    operations: OperationsSettings
    break_glass_role: str  # ARN of a role that may read vectors, too; "": only our own roles may
    upload_origins: tuple[str, ...]  # of pages other than the console's
    with_dependencies: bool  # False: functions are synthesised without their pinned packages

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        project = str(app.node.get_context("project"))
        pool_size = int(app.node.get_context("knowledge_base_pool_size"))
        if not _PROJECT.fullmatch(project):
            raise ValueError(f"context project {project!r} must match {_PROJECT.pattern}")
        largest = LARGEST_POOL[pool_type(app)]
        if not 1 <= pool_size <= largest:
            raise ValueError(
                f"context knowledge_base_pool_size {pool_size} must be 1 to {largest}: more would"
                f" exceed the {_OUTPUTS} outputs that CloudFormation allows a stack"
            )
        via = choice(app, "retrieve_via", ("s3vectors", "bedrock"))
        return cls(
            project=project,
            pool_size=pool_size,
            pool_type=pool_type(app),
            catalog_data_sources=choice(app, "catalog_data_sources", CATALOG_DATA_SOURCES),
            admission=Admission.from_context(app),
            concurrency=Concurrency.from_context(app),
            answer_model=AnswerModel.from_context(app),
            guardrail=Guardrail.from_context(app),
            retrieve_via="bedrock" if pool_type(app) == MANAGED else via,
            retrieve_least_score=text(app, "retrieve_least_score", _SHARE, "0 to 1, or empty"),
            fitting=Fitting.from_context(app),
            rerank_model=choice(app, "rerank_model", ("", *_RERANK_MODELS)),
            retrieve_sharing=choice(app, "retrieve_sharing", ("off", "on")),
            vector_cache=VectorCache.from_context(app),
            ingestion=Ingestion.from_context(app),
            search_language=choice(app, "search_language", _LANGUAGES),
            customer_managed_key=choice(app, "customer_managed_key", ("off", "on")) == "on",
            sign_in=SignInSettings.from_context(app),
            callback_urls=callback_urls(app),
            console=ConsoleSettings.from_context(app),
            operations=OperationsSettings.from_context(app),
            break_glass_role=text(
                app,
                "break_glass_role",
                _ROLE_ARN,
                "a role's ARN, arn:aws:iam::123456789012:role/..., without wildcards, or empty",
            ),
            upload_origins=upload_origins(app),
            with_dependencies=choice(app, "bundling", ("full", "none")) == "full",
        )

    @property
    def is_managed(self) -> bool:
        return self.pool_type == MANAGED

    def bucket_name(self, kind: str) -> str:
        return f"{self.project}-{kind}-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}"

    def document_arns(self, scope: Construct, keys: str) -> str:
        """Return the ARN of objects in the documents' bucket; `keys` is a pattern."""
        return cdk.Stack.of(scope).format_arn(
            service="s3",
            region="",
            account="",
            resource=self.bucket_name("kb-docs"),
            resource_name=keys,
        )

    def role_name(self, function: str) -> str:
        """Return a role's name, with the region, because role names are global to an account."""
        return f"{self.project}-{function}-{cdk.Aws.REGION}"

    def sessions_of(self, scope: Construct, function: str) -> list[str]:
        """
        Return the values of `aws:PrincipalArn` of a function: its role's ARN and its sessions'.

        https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
        """
        stack, name = cdk.Stack.of(scope), self.role_name(function)
        return [
            stack.format_arn(service="iam", region="", resource="role", resource_name=name),
            stack.format_arn(
                service="sts", region="", resource="assumed-role", resource_name=f"{name}/*"
            ),
        ]

    @property
    def dashboard_name(self) -> str:
        """The dashboard's name, with the region, because dashboards are global to an account."""
        return f"{self.project}-{cdk.Aws.REGION}"

    def state_machine_name(self) -> str:
        return f"{self.project}-ingest-catalog"

    def state_machine_arn(self, scope: Construct, resource: str = "stateMachine") -> str:
        """
        Return the state machine's ARN, or with resource `execution` the pattern of its executions.
        """
        name = self.state_machine_name() + (":*" if resource == "execution" else "")
        return cdk.Stack.of(scope).format_arn(
            service="states",
            resource=resource,
            resource_name=name,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
