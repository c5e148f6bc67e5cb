from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from stackroom_constructs import (
    BedrockKnowledgeBase,
    ImplicitFilter,
    InvalidArgument,
    KnowledgeBaseCreation,
    MetadataAttribute,
    OpenSearchServerlessStore,
    RdsStore,
    Reranking,
)
from stackroom_constructs.chunking import Chunking
from tests.constructs.agents import a_stack, readable, statements
from tests.constructs.made import documents

ARN = "arn:{partition}:bedrock:{region}:{account}:"
CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"
YEAR = MetadataAttribute(key="year", type="NUMBER", description="Of issue.")


def existing(stack: cdk.Stack, **arguments: Any) -> BedrockKnowledgeBase:
    return BedrockKnowledgeBase(
        stack, "Handbook", **{"knowledge_base_id": "ABCDE12345", **arguments}
    )


def to_create(stack: cdk.Stack, **arguments: Any) -> KnowledgeBaseCreation:
    return KnowledgeBaseCreation(bucket=documents(stack), **arguments)


def test_generation_is_granted_in_its_own_statement_unless_turned_off(stack: cdk.Stack) -> None:
    retrieve = {"Action": "bedrock:Retrieve", "Resource": f"{ARN}knowledge-base/ABCDE12345"}

    assert statements(stack, existing(stack)) == [
        retrieve,
        {"Action": "bedrock:RetrieveAndGenerate", "Resource": "*"},
    ]
    assert statements(cdk.Stack(), existing(cdk.Stack(), generation=False)) == [retrieve]


def test_existing_knowledge_base_is_imported_by_arn_and_granted() -> None:
    stack = cdk.Stack(env=cdk.Environment(account="111122223333", region="eu-central-1"))
    arn = "arn:aws:bedrock:eu-central-1:111122223333:knowledge-base/ABCDE12345"
    role = iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal())

    of_arn = BedrockKnowledgeBase.from_knowledge_base_arn(stack, "Laws", arn, enable_acl=True)
    of_arn.grant_retrieve(role)

    assert of_arn.export_configuration()["enableAcl"]
    assert (of_arn.knowledge_base_id, of_arn.name) == ("ABCDE12345", "Laws")
    granted = {"Action": "bedrock:Retrieve", "Effect": "Allow"}
    resource = stack.resolve(of_arn.knowledge_base_arn)
    assert readable(resource) == arn.replace(":aws:", ":{partition}:")
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Policy",
        {"PolicyDocument": {"Statement": [{**granted, "Resource": resource}]}},
    )
    # Which knowledge base an imported value means is known only at deployment.
    imported = BedrockKnowledgeBase.from_knowledge_base_arn(
        stack, "Imported", cdk.Fn.import_value("laws")
    )
    assert {"Fn::ImportValue": "laws"} in _leaves(stack.resolve(imported.knowledge_base_id))
    for wrong, allowed in (
        ("arn:aws:s3:::laws", "an ARN like arn:aws:bedrock:"),
        (arn.replace("eu-central-1", "us-east-1"), "of the region 'eu-central-1'"),
        (arn.replace("1111", "9999"), "of the account '111122223333'"),
    ):
        with pytest.raises(
            InvalidArgument, match=f"Other: knowledge_base_arn '{wrong[:20]}.*{allowed}"
        ):
            BedrockKnowledgeBase.from_knowledge_base_arn(stack, "Other", wrong)


def _leaves(value: Any) -> list[Any]:
    """Return the innermost values of intrinsic functions."""
    inside = list(value.values()) if isinstance(value, dict) else value
    found = [leaf for each in inside if isinstance(each, dict | list) for leaf in _leaves(each)]
    return found or [value]


def test_managed_knowledge_base_grants_retrieve_only(stack: cdk.Stack) -> None:
    managed = existing(stack, vector_store_type="MANAGED", managed_reranking="NONE")
    reranked: dict[str, Any] = {"vector_store_type": "MANAGED", "managed_reranking": "MANAGED"}

    assert [each["Action"] for each in statements(stack, managed)] == ["bedrock:Retrieve"]
    assert managed.export_configuration()["managedReranking"] == "NONE"
    # The service's own model doesn't rerank after another model's embedding.
    with pytest.raises(InvalidArgument, match="managed_reranking 'MANAGED' must be NONE or omit"):
        BedrockKnowledgeBase(stack, "Made", create=to_create(stack), **reranked)


def test_guardrail_and_models_are_granted_by_exact_resource() -> None:
    """A reranking model is called by who generates, and otherwise by the service."""
    models = "arn:{partition}:bedrock:{region}::foundation-model"
    ranked = {"reranking": Reranking(model="amazon.rerank-v1:0")}
    filtered = {"implicit_filter": ImplicitFilter(model=CLAUDE, attributes=(YEAR,))}
    invoking = {"Action": "bedrock:InvokeModel"}

    def added(**arguments: Any) -> list[dict[str, Any]]:
        stack = cdk.Stack()
        return statements(stack, existing(stack, **arguments))[1:]

    assert added(guardrail_id="gr123", generation=False) == [
        {
            "Action": "bedrock:ApplyGuardrail",
            "Resource": [
                f"{ARN}guardrail/gr123",
                # Where a guardrail of the tier STANDARD sends a question.
                "arn:{partition}:bedrock:*:{account}:guardrail-profile/*",
            ],
        }
    ]
    assert added(**ranked)[1:] == [
        {"Action": "bedrock:Rerank", "Resource": "*"},
        {**invoking, "Resource": f"{models}/amazon.rerank-v1:0"},
    ]
    assert added(**ranked, generation=False) == []
    assert added(**filtered, generation=False) == [{**invoking, "Resource": f"{models}/{CLAUDE}"}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"knowledge_base_id": None}, "knowledge_base_id None must be the id of an existing"),
        ({"knowledge_base_id": "kb-handbook"}, "knowledge_base_id 'kb-handbook' must be 10"),
        ({"guardrail_version": None}, "guardrail_version None must be a text like"),
        ({"reranking": "amazon.rerank-v1:0"}, "reranking 'amazon.* must be a Reranking"),
        (
            {"managed_reranking": "CUSTOM", "vector_store_type": "MANAGED"},
            "managed_reranking 'CUSTOM' must be one of MANAGED, NONE",
        ),
        ({"min_score": float("nan")}, "min_score nan must"),
    ],
)
# Arguments that the reader of the entry also refuses are in test_what_agents_read.py.
def test_contradicting_arguments_are_refused_by_name(
    stack: cdk.Stack, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=f"^Stack/Handbook: .*{message}"):
        existing(stack, **arguments)


def test_bucket_in_another_account_or_region_is_refused() -> None:
    stack, where = a_stack(), "of the bucket in `create`"
    elsewhere: list[tuple[dict[str, Any], str]] = [
        ({"account": "210987654321"}, f"account {where} '210987654321' must be"),
        ({"region": "eu-west-1"}, f"region {where} 'eu-west-1' must be 'us-east-"),
    ]
    for place, message in elsewhere:
        [name] = place
        bucket = s3.Bucket.from_bucket_attributes(stack, name, bucket_name="elsewhere", **place)

        with pytest.raises(InvalidArgument, match=message):
            BedrockKnowledgeBase(stack, f"Of{name}", create=KnowledgeBaseCreation(bucket=bucket))


def test_existing_knowledge_base_has_no_data_source_and_no_create(stack: cdk.Stack) -> None:
    with pytest.raises(InvalidArgument, match="data_source_id"):
        _ = existing(cdk.Stack()).data_source_id
    with pytest.raises(InvalidArgument, match="knowledge_base_id 'ABCDE12345' must be omitted"):
        existing(stack, create=to_create(stack))


@pytest.mark.parametrize(
    ("store", "create", "message"),
    [
        ("OPENSEARCH_SERVERLESS", {}, "store None must be an OpenSearchServerlessStore"),
        (
            "RDS",
            {"store": OpenSearchServerlessStore(collection_arn="arn:c", index_name="i")},
            "store .* must be an RdsStore",
        ),
        (
            "S3_VECTORS",
            {"store": OpenSearchServerlessStore(collection_arn="arn:c", index_name="i")},
            "store .* must be omitted, since vector_store_type is 'S3_VECTORS'",
        ),
        ("S3_VECTORS", {"embedding_model": "managed"}, "embedding_model 'managed' must be the id"),
        (
            "MANAGED",
            {"embedding_model": "managed", "max_tokens": 400},
            "create.chunking 'fixed' must be default, or fixed with 300 tokens",
        ),
        ("MANAGED", {"chunking": "hierarchical"}, "chunking 'hierarchical' must be one of"),
        ("MANAGED", {"parsing": "bedrock_data_automation"}, "parsing .* must be default"),
        (
            "S3_VECTORS",
            {"chunking": "hierarchical", "parent_tokens": 7701},
            "parent_tokens 7701 must be at most 7,700 with child_tokens 300 on S3 Vectors",
        ),
    ],
)
def test_creation_option_that_the_store_lacks_is_refused_by_name(
    stack: cdk.Stack, store: Any, create: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        BedrockKnowledgeBase(
            stack, "Made", vector_store_type=store, create=to_create(stack, **create)
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "Hand book"}, "name 'Hand book' must be at most 100 letters and digits"),
        ({"create": "yes"}, "Stack/Made: create 'yes' must be a KnowledgeBaseCreation"),
        ({"description": "d" * 201}, "description .* must be a text of at most 200 characters"),
    ],
)
def test_name_and_description_of_a_created_knowledge_base_are_checked(
    stack: cdk.Stack, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        BedrockKnowledgeBase(stack, "Made", **{"create": to_create(stack), **arguments})


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Reranking(model="amazon.rerank-v1:0", number_of_results=101),
        lambda: Reranking(model="amazon.rerank-v1:0", fields_to_include="title"),  # type: ignore[arg-type]
        lambda: Reranking(
            model="amazon.rerank-v1:0", fields_to_include=("a",), fields_to_exclude=("b",)
        ),
        lambda: Reranking(model="rerank"),
        lambda: ImplicitFilter(model=CLAUDE, attributes=(YEAR,) * 26),
        lambda: MetadataAttribute(key="k" * 257, type="STRING", description="d"),
        lambda: RdsStore(cluster_arn="c", secret_arn="s", database_name="d" * 64, table_name="t"),
    ],
)
def test_invalid_part_of_a_knowledge_base_is_refused_by_name(wrong: Callable[[], object]) -> None:
    with pytest.raises(
        InvalidArgument, match=r"^(Reranking|Implicit|Metadata|Rds|OpenSearch).* must be"
    ):
        wrong()


HIERARCHICAL = {"chunking": "hierarchical"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bucket": "documents"}, "bucket 'documents' must be a bucket; for an existing one"),
        ({"chunking": "recursive"}, "chunking 'recursive' must be one of default, fixed, hier"),
        ({"max_tokens": 0}, "max_tokens 0 must be a whole number of 1 to 8,192"),
        ({**HIERARCHICAL, "child_tokens": 1501}, "child_tokens 1501 must be at most the parent"),
        ({"chunking": "semantic", "buffer_size": 2}, "buffer_size 2 must be .* 0 to 1"),
        ({"parsing": "ocr"}, "parsing 'ocr' must be one of default, bedrock_data_automation"),
        ({"parsing": "foundation_model"}, "parsing_model None must be the id"),
        ({"embedding_model": "titan"}, "embedding_model 'titan' must be the id of a model"),
        ({"dimensions": 1000}, "dimensions 1000 must be one of 256, 512, 1024"),
        ({"prefix": "a*/"}, r"prefix 'a\*/' must be free of"),
        ({"prefix": "${aws:username}/"}, "prefix .* must be free of .* unless readable_objects"),
        ({"index_name": "A"}, "index_name 'A' must be 3 to 63 lower-case letters, digits"),
        ({"data_source_type": "WEB"}, "data_source_type 'WEB' must be one of S3, CUSTOM"),
    ],
)
def test_knowledge_base_that_cannot_be_created_is_refused_by_name(
    stack: cdk.Stack, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=f"^KnowledgeBaseCreation: {message}"):
        KnowledgeBaseCreation(**{"bucket": documents(stack), **arguments})


def test_parents_near_the_token_limit_warn_and_over_it_are_refused() -> None:
    most = Chunking(strategy="hierarchical", parent_tokens=7700, child_tokens=300)
    largest = Chunking(strategy="hierarchical", parent_tokens=8192, child_tokens=8192)

    most.check_store("S3_VECTORS")
    largest.check_store("RDS")

    assert "8,000" in str(most.warning("S3_VECTORS"))
    assert largest.warning("RDS") is None
    assert Chunking(strategy="fixed", max_tokens=8192).warning("S3_VECTORS") is None
    with pytest.raises(InvalidArgument, match="parent_tokens 8192"):
        largest.check_store("S3_VECTORS")
