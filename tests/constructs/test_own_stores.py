"""Knowledge bases in stores that are searched directly: their rights and validation."""

import json
import tomllib
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from stackroom_constructs import (
    BedrockKnowledgeBase,
    InvalidArgument,
    KnowledgeBaseCreation,
    OpenSearchKnowledgeBase,
    PgvectorKnowledgeBase,
    Reranking,
    VectorIndexKnowledgeBase,
)
from stackroom_constructs.agent_knowledge_bases import AgentKnowledgeBases
from stackroom_constructs.own_store_knowledge_base import OwnStoreKnowledgeBase
from stackroom_constructs.pgvector_knowledge_base import PACKAGES
from tests.constructs.agents import statements
from tests.constructs.stores import COLLECTION, INDEX, in_its_store

_MODELS = "arn:{partition}:bedrock:{region}::foundation-model/"
USER = "arn:{partition}:rds-db:{region}:{account}:dbuser:cluster-ABCDEF/agent"
RIGHTS: dict[type[OwnStoreKnowledgeBase], dict[str, Any]] = {
    OpenSearchKnowledgeBase: {"Action": "aoss:APIAccessAll", "Resource": COLLECTION},
    PgvectorKnowledgeBase: {"Action": "rds-db:connect", "Resource": USER},
    VectorIndexKnowledgeBase: {
        "Action": ["s3vectors:QueryVectors", "s3vectors:GetVectors", "s3vectors:GetIndex"],
        "Resource": INDEX,
    },
}


@pytest.mark.parametrize("made", RIGHTS)
def test_own_store_grants_exactly_its_store_models_and_guardrail(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase]
) -> None:
    rerank = Reranking(model="amazon.rerank-v1:0")
    least = in_its_store(stack, made)
    most = in_its_store(cdk.Stack(), made, guardrail_id="gr123", reranking=rerank)

    embeds = {
        "Action": "bedrock:InvokeModel",
        "Resource": f"{_MODELS}amazon.titan-embed-text-v2:0",
    }
    guardrail = [
        "arn:{partition}:bedrock:{region}:{account}:guardrail/gr123",
        "arn:{partition}:bedrock:*:{account}:guardrail-profile/*",
    ]
    assert statements(stack, least) == [RIGHTS[made], embeds]
    assert statements(cdk.Stack.of(most), most) == [
        RIGHTS[made],
        embeds,
        {"Action": "bedrock:ApplyGuardrail", "Resource": guardrail},
        {"Action": "bedrock:Rerank", "Resource": "*"},
        {"Action": "bedrock:InvokeModel", "Resource": f"{_MODELS}amazon.rerank-v1:0"},
    ]


# Arguments that the reader of the entry also refuses are in test_what_agents_read.py.
@pytest.mark.parametrize(
    ("made", "argument", "value", "allowed"),
    [
        (OpenSearchKnowledgeBase, "collection_arn", f"{COLLECTION}*", "an ARN of a collection"),
        (OpenSearchKnowledgeBase, "collection_name", "Finance", "small letters"),
        (OpenSearchKnowledgeBase, "collection_endpoint", "http://elsewhere", "https://"),
        (
            PgvectorKnowledgeBase,
            "host",
            "https://db.example.com",
            "the host name of an RDS endpoint",
        ),
        (PgvectorKnowledgeBase, "resource_id", "*", "db-..., cluster-... or prx-..."),
        (PgvectorKnowledgeBase, "user", "agent*", "1 to 63 letters"),
        (PgvectorKnowledgeBase, "certificates", "/nowhere.pem", "a PEM file of certificates"),
        (VectorIndexKnowledgeBase, "index_arn", f"{INDEX}*", "arn:aws:s3vectors:"),
        (VectorIndexKnowledgeBase, "reranking", "amazon.rerank-v1:0", "a Reranking"),
    ],
)
def test_invalid_store_argument_is_refused_with_what_is_allowed(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase], argument: str, value: Any, allowed: str
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        in_its_store(stack, made, **{argument: value})

    assert str(raised.value).startswith(f"Stack/Parts: {argument} ")
    assert allowed in str(raised.value)


def test_reranking_fields_and_blank_field_name_are_refused_for_own_store(
    stack: cdk.Stack,
) -> None:
    chosen = Reranking(model="amazon.rerank-v1:0", fields_to_include=("title",))

    with pytest.raises(InvalidArgument, match=r"reranking\.fields_to_include \('title',\)"):
        in_its_store(stack, VectorIndexKnowledgeBase, reranking=chosen)
    with pytest.raises(InvalidArgument, match="vectorField ' ' must be non-blank text"):
        in_its_store(cdk.Stack(), OpenSearchKnowledgeBase, vector_field=" ")


def test_collection_policy_allows_a_role_only_to_read_the_index(
    stack: cdk.Stack,
) -> None:
    ledgers = in_its_store(stack, OpenSearchKnowledgeBase)
    assert isinstance(ledgers, OpenSearchKnowledgeBase)

    for name in ("One", "Other"):
        trusted = iam.ServicePrincipal("lambda.amazonaws.com")
        ledgers.allow_reading(iam.Role(stack, name, assumed_by=trusted))

    found = Template.from_stack(stack).find_resources("AWS::OpenSearchServerless::AccessPolicy")
    policies = [each["Properties"] for each in found.values()]
    names = {each["Name"] for each in policies}
    assert len(names) == 2
    assert all(3 <= len(name) <= 32 and name[0].isalpha() for name in names)
    rules = [json.loads("".join(map(_text, each["Policy"]["Fn::Join"][1]))) for each in policies]
    assert [rule for [each] in rules for rule in each["Rules"]] == [
        {
            "ResourceType": "index",
            "Resource": ["index/finance/knowledge-base"],
            "Permission": ["aoss:DescribeIndex", "aoss:ReadDocument"],
        }
    ] * 2
    assert len({each["Principal"][0] for [each] in rules}) == 2


def _text(part: Any) -> str:
    return part if isinstance(part, str) else str(part["Fn::GetAtt"][0])


def test_pgvector_tool_brings_packages_and_certificates_as_configured(
    tmp_path: Path,
) -> None:
    pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    (tmp_path / "bundle.pem").write_text(pem, "utf-8")
    app = cdk.App(outdir=str(tmp_path / "out"))
    bundle = str(tmp_path / "bundle.pem")
    made = in_its_store(cdk.Stack(app, "Stack"), PgvectorKnowledgeBase, certificates=bundle)
    tool = made.retrieval_tool()

    app.synth()

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert list(PACKAGES) == project["project"]["optional-dependencies"]["pgvector"]
    assert (tool.is_default, tool.packages, len(tool.layers)) == (True, PACKAGES, 1)
    # Layers are unpacked into /opt.
    assert made.export_configuration()["sslRootCert"] == "/opt/rds/global-bundle.pem"
    [found] = (tmp_path / "out").glob("asset.*/**/*.pem")
    assert found.relative_to(tmp_path / "out").parts[1:] == ("rds", "global-bundle.pem")
    assert found.read_text("utf-8") == pem


def made_by_bedrock(stack: cdk.Stack, name: str, **arguments: Any) -> BedrockKnowledgeBase:
    bucket = s3.Bucket.from_bucket_name(stack, f"{name}Documents", "documents-of-somebody")
    creation = {"dimensions": 256, **arguments.pop("creation", {})}
    create = KnowledgeBaseCreation(bucket=bucket, **creation)
    return BedrockKnowledgeBase(stack, name, create=create, **arguments)


def test_index_of_a_created_knowledge_base_has_its_search_options(
    stack: cdk.Stack,
) -> None:
    handbook = made_by_bedrock(
        stack,
        "Handbook",
        number_of_results=9,
        enable_acl=True,
        acl_metadata_field="readers",
        retrieval_filter={"equals": {"key": "lang", "value": "en"}},
        guardrail_id="gr123",
        min_score=0.25,
    )

    exported = VectorIndexKnowledgeBase.of(handbook, tenancy="user").export_configuration()

    own = {**handbook.export_configuration(), "vectorStoreType": "S3_VECTORS_DIRECT"}
    assert handbook.created is not None
    assert handbook.created.index is not None
    assert {name: exported.get(name) for name in own} == own
    assert (exported["tenancy"], exported["embeddingDimensions"]) == ("user", 256)
    assert exported["indexArn"] == handbook.created.index.attr_index_arn
    assert exported["textKey"] == "AMAZON_BEDROCK_TEXT"
    assert exported["sourceKey"] == "x-amz-bedrock-kb-source-uri"


def test_index_is_searchable_only_if_its_base_was_created_with_s3_vectors(stack: cdk.Stack) -> None:
    existing = BedrockKnowledgeBase(stack, "Existing", knowledge_base_id="ABCDE12345")
    managed = made_by_bedrock(
        stack, "Managed", vector_store_type="MANAGED", creation={"dimensions": 1024}
    )
    cohere = {"embedding_model": "cohere.embed-v4:0", "dimensions": 1536}
    foreign = made_by_bedrock(stack, "Foreign", creation=cohere)

    for each in (existing, managed, "Handbook"):
        with pytest.raises(InvalidArgument, match="that `create` makes with S3_VECTORS"):
            VectorIndexKnowledgeBase.of(each, tenancy="shared")  # type: ignore[arg-type]  # one is none
    with pytest.raises(InvalidArgument, match=r"embedding_model 'cohere\.embed-v4:0' must be"):
        VectorIndexKnowledgeBase.of(foreign, tenancy="shared")


def test_index_given_along_with_its_knowledge_base_is_refused_by_name(
    stack: cdk.Stack,
) -> None:
    handbook = made_by_bedrock(stack, "Handbook")
    index = VectorIndexKnowledgeBase.of(handbook, tenancy="shared")

    with pytest.raises(InvalidArgument, match=r"unique, but 2 .* Handbook, Handbook") as refused:
        AgentKnowledgeBases.of(stack, [handbook, index])

    assert "Fn::GetAtt" not in str(refused.value)
