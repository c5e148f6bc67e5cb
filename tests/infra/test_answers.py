"""Who may ask which model and apply which guardrail, by what the context says."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks

from infra.answer_rights import may_answer, may_guard
from infra.answers import AnswerModel
from infra.deployment import Deployment
from infra.function import HandlerFunction
from stackroom.aws.answer_prompt import DEFAULT
from stackroom.aws.settings import AnswerSettings
from tests.infra.assembly import Assembly, listed
from tests.infra.test_app import RIGHT

KNOWLEDGE_BASE = "arn:aws:bedrock:us-east-1:123456789012:knowledge-base/KB1"
HERE = "arn:aws:bedrock:us-east-1:123456789012"
NOVA = "foundation-model/amazon.nova-lite-v1:0"
NOVA_2 = "foundation-model/amazon.nova-2-lite-v1:0"


def granted(grant: str, **context: object) -> tuple[cdk.App, HandlerFunction]:
    """A function that was granted this, in an account of its own."""
    flags = {"@aws-cdk/core:enablePartitionLiterals": True}
    app = cdk.App(context={**RIGHT, **flags, **context})
    deployment = Deployment.from_context(app)
    where = cdk.Environment(account="123456789012", region="us-east-1")
    handler = HandlerFunction(
        cdk.Stack(app, "Stack", env=where),
        "Retrieve",
        deployment=deployment,
        package="retrieve",
        timeout=cdk.Duration.seconds(60),
        memory_size=1024,
        environment={},
    )
    if grant == "answer":
        may_answer(handler, deployment=deployment, knowledge_base_arns=[KNOWLEDGE_BASE])
    else:
        may_guard(handler, deployment=deployment)
    return app, handler


def function(grant: str, **context: object) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Its variables and statements."""
    _, handler = granted(grant, **context)
    template = Template.from_stack(cdk.Stack.of(handler)).to_json()["Resources"].values()
    [made] = [each["Properties"] for each in template if each["Type"] == "AWS::Lambda::Function"]
    [policy] = [each["Properties"] for each in template if each["Type"] == "AWS::IAM::Policy"]
    return made["Environment"]["Variables"], policy["PolicyDocument"]["Statement"]


def rights(statements: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    """Action, resource, and the inference profile that it must go by, of Bedrock's alone."""
    return {
        (action.removeprefix("bedrock:"), resource, _profile(statement))
        for statement in statements
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
        if action.startswith("bedrock:")
    }


def _profile(statement: dict[str, Any]) -> str:
    condition = statement.get("Condition", {}).get("StringEquals", {})
    assert set(condition) <= {"bedrock:InferenceProfileArn"}
    return str(condition.get("bedrock:InferenceProfileArn", ""))


ASKING = {("Retrieve", KNOWLEDGE_BASE, "")}
EU = f"{HERE}:inference-profile/eu.amazon.nova-lite-v1:0"
EVERYWHERE = f"{HERE}:inference-profile/global.amazon.nova-2-lite-v1:0"


@pytest.mark.parametrize(
    ("model", "asked", "invoked"),
    [
        (
            "amazon.nova-lite-v1:0",
            f"arn:aws:bedrock:us-east-1::{NOVA}",
            {("InvokeModel", f"arn:aws:bedrock:us-east-1::{NOVA}", "")},
        ),
        (
            "eu.amazon.nova-lite-v1:0",
            EU,
            {
                ("InvokeModel", EU, ""),
                ("GetInferenceProfile", EU, ""),
                ("InvokeModel", f"arn:aws:bedrock:*::{NOVA}", EU),
            },
        ),
        (
            "global.amazon.nova-2-lite-v1:0",
            EVERYWHERE,
            {
                ("InvokeModel", EVERYWHERE, ""),
                ("GetInferenceProfile", EVERYWHERE, ""),
                ("InvokeModel", f"arn:aws:bedrock:us-east-1::{NOVA_2}", EVERYWHERE),
                ("InvokeModel", f"arn:aws:bedrock:::{NOVA_2}", EVERYWHERE),
            },
        ),
    ],
)
def test_one_model_may_be_asked_and_where_it_runs_and_only_by_its_profile(
    model: str, asked: str, invoked: set[tuple[str, str, str]]
) -> None:
    variables, statements = function("answer", answer_model=model)

    assert rights(statements) == ASKING | invoked
    assert variables["ANSWER_MODEL_ARN"] == asked
    assert AnswerSettings.from_env(variables).answer_via == "converse"
    assert AnswerSettings.from_env(variables).guardrail is None


def test_what_has_no_resource_type_is_granted_only_to_who_is_told_to_ask_for_it() -> None:
    _, statements = function("answer")
    via = {"answer_via": "retrieve_and_generate"}
    variables, its_statements = function("answer", **via)

    assert rights(its_statements) - rights(statements) == {("RetrieveAndGenerate", "*", "")}
    assert rights(statements) - rights(its_statements) == set()
    assert AnswerSettings.from_env(variables).answer_via == "retrieve_and_generate"


@pytest.mark.parametrize("via", ["converse", "retrieve_and_generate"])
def test_what_is_granted_by_wildcard_is_accepted_with_its_reason(via: str) -> None:
    app, _ = granted("answer", answer_model="eu.amazon.nova-lite-v1:0", answer_via=via)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()  # raises for what is found and nobody accepted


def test_a_guardrail_is_applied_by_who_answers_and_by_who_searches() -> None:
    guardrail = {"guardrail_id": "gr123", "guardrail_version": "2"}
    may = ("ApplyGuardrail", f"{HERE}:guardrail/gr123", "")

    answering, its_rights = function("answer", answer_model="amazon.nova-lite-v1:0", **guardrail)
    searching, searchers_rights = function("guard", **guardrail)

    assert may in rights(its_rights)
    assert rights(searchers_rights) == {may}
    for variables in (answering, searching):
        assert (variables["GUARDRAIL_ID"], variables["GUARDRAIL_VERSION"]) == ("gr123", "2")


def test_without_a_guardrail_nothing_is_granted_or_set() -> None:
    variables, statements = function("guard")

    assert rights(statements) == set()
    assert not {"GUARDRAIL_ID", "GUARDRAIL_VERSION"} & set(variables)


def test_every_function_that_searches_or_answers_is_guarded_if_the_deployment_is(
    otherwise: Assembly,
) -> None:
    for function in ("retrieve", "catalog-tools"):
        variables = otherwise.variables(function)

        assert (variables["GUARDRAIL_ID"], variables["GUARDRAIL_VERSION"]) == ("gr123", "DRAFT")
        assert ("bedrock:ApplyGuardrail", "guardrail/gr123") in otherwise.granted(function)


def test_a_prompt_of_ones_own_reaches_the_function(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(f"{'x' * 500} $search_results$ $output_format_instructions$")

    variables, _ = function("answer", answer_prompt_file=str(prompt))

    assert AnswerSettings.from_env(variables).answer_prompt == prompt.read_text()


def test_a_prompt_that_no_function_has_room_for_is_refused(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("ü" * 1000 + " $search_results$ $output_format_instructions$")

    with pytest.raises(ValueError, match="2,000 bytes"):
        function("answer", answer_prompt_file=str(prompt))


def test_the_products_own_prompt_would_pass_as_one_of_ones_own(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(DEFAULT)

    app = cdk.App(context={**RIGHT, "answer_prompt_file": str(prompt)})

    assert AnswerModel.from_context(app).prompt == DEFAULT
