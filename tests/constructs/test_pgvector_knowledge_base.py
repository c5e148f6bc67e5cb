"""Tables in PostgreSQL as a knowledge base: what is exported, what it takes, what is refused."""

import tomllib
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_lambda as lambda_

from stackroom_constructs import InvalidArgument, PgvectorKnowledgeBase
from stackroom_constructs.pgvector_knowledge_base import PACKAGES
from tests.constructs.test_bedrock_knowledge_base import readable, statements

HOST = "db.cluster-abc.us-east-1.rds.amazonaws.com"
MODEL = "arn:{partition}:bedrock:{region}::foundation-model/amazon.titan-embed-text-v2:0"
PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.pem"
    path.write_text(PEM, "utf-8")
    return path


def made(stack: cdk.Stack, bundle: Path, **arguments: Any) -> PgvectorKnowledgeBase:
    needed = {
        "tenancy": "user",
        "host": HOST,
        "resource_id": "cluster-ABCDEF",
        "database": "knowledge",
        "user": "agent",
        "certificates": str(bundle),
    }
    return PgvectorKnowledgeBase(stack, "Handbook", **{**needed, **arguments})


def test_it_may_connect_as_exactly_its_user_and_ask_exactly_its_model(
    stack: cdk.Stack, certificates: Path
) -> None:
    user = "arn:{partition}:rds-db:{region}:{account}:dbuser:cluster-ABCDEF/agent"
    assert statements(stack, made(stack, certificates)) == [
        {"Action": "rds-db:connect", "Resource": user},
        {"Action": "bedrock:InvokeModel", "Resource": MODEL},
    ]


def test_what_another_stack_knows_of_a_database_may_be_handed_on(
    stack: cdk.Stack, certificates: Path
) -> None:
    endpoint = cdk.CfnParameter(stack, "Endpoint").value_as_string
    port = cdk.Token.as_number(cdk.Fn.import_value("port"))

    knowledge_base = made(stack, certificates, host=endpoint, port=port)

    exported = readable(stack.resolve(knowledge_base.export_configuration()))
    assert exported["host"] == {"Ref": "Endpoint"}
    assert exported["port"] == {"Fn::ImportValue": "port"}


def test_the_tool_comes_with_the_extras_packages_and_the_certificates(
    stack: cdk.Stack, certificates: Path
) -> None:
    tool = made(stack, certificates).retrieval_tool()

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    [layer] = tool.layers
    assert tool.is_default
    assert isinstance(layer, lambda_.LayerVersion)
    assert list(PACKAGES) == project["project"]["optional-dependencies"]["pgvector"]
    assert tool.packages == PACKAGES


def test_the_certificates_lie_where_the_entry_says(tmp_path: Path, certificates: Path) -> None:
    app = cdk.App(outdir=str(tmp_path / "out"))
    made(cdk.Stack(app, "Stack"), certificates)

    app.synth()

    assert made(cdk.Stack(), certificates).export_configuration()["sslRootCert"] == (
        "/opt/rds/global-bundle.pem"
    )
    [found] = (tmp_path / "out").glob("asset.*/**/*.pem")
    assert found.relative_to(tmp_path / "out").parts[1:] == ("rds", "global-bundle.pem")
    assert found.read_text("utf-8") == PEM


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("host", "a,b", "the name of one host"),
        ("host", "https://db.example.com", "the name of one host"),
        ("resource_id", "*", "db-..., cluster-... or prx-..."),
        ("resource_id", "cluster-ABC/agent", "db-..., cluster-... or prx-..."),
        ("user", "agent*", "1 to 63 letters"),
        ("user", "a/b", "1 to 63 letters"),
        ("port", 65536, "1 to 65,535"),
        ("certificates", "", "not blank"),
        ("certificates", "/nowhere.pem", "a file of certificates in PEM"),
        (
            "certificates",
            str(Path(__file__).with_name("conftest.py")),
            "a file of certificates in PEM",
        ),
        ("retrieval_filter", {"lessThan": {"key": "a", "value": "b"}}, "a number"),
    ],
)
def test_an_error_names_the_argument_and_what_is_allowed(
    stack: cdk.Stack, certificates: Path, argument: str, value: Any, allowed: str
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        made(stack, certificates, **{argument: value})

    assert str(raised.value).startswith(f"Stack/Handbook: {argument} ")
    assert allowed in str(raised.value)
