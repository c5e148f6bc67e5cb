"""Who may call which model and apply which guardrail, depending on the context."""

from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.answers import AnswerModel
from stackroom.app.function_settings import AnswerSettings
from tests.infra.assembly import Assembly, as_list
from tests.infra.synthesis import NOVA, RIGHT, deployment

NOVA_2 = "amazon.nova-2-lite-v1:0"
PROFILES = "arn:aws:bedrock:{region}:{account}:inference-profile"
Right = tuple[str, str, str]


def granted_model_rights(assembly: Assembly) -> set[Right]:
    """Return action, model or profile, and the required profile, of the function that answers."""
    found: set[Right] = set()
    for policy in assembly.all("gateway", "AWS::IAM::Policy"):
        if not policy.properties["Roles"][0].endswith("-catalog-tools-{region}"):
            continue
        for statement in policy.properties["PolicyDocument"]["Statement"]:
            by = statement.get("Condition", {}).get("StringEquals", {})
            found |= {
                (action, resource, by.get("bedrock:InferenceProfileArn", ""))
                for action in as_list(statement["Action"])
                for resource in as_list(statement["Resource"])
                if "nova" in resource
            }
    return found


INVOKE = "bedrock:InvokeModel"


@pytest.mark.parametrize(
    ("name", "profile_arn", "where"),
    [
        ("hierarchical", "", {f"arn:aws:bedrock:{{region}}::foundation-model/{NOVA}"}),
        (
            "customised",
            f"{PROFILES}/eu.{NOVA}",
            {f"arn:aws:bedrock:*::foundation-model/{NOVA}"},
        ),
        (
            "as in cdk.json",
            f"{PROFILES}/global.{NOVA_2}",
            {
                f"arn:aws:bedrock:{{region}}::foundation-model/{NOVA_2}",
                f"arn:aws:bedrock:::foundation-model/{NOVA_2}",
            },
        ),
    ],
    ids=["here", "in a continent", "anywhere"],
)
def test_answering_function_may_invoke_one_model_through_its_profile_only(
    name: str, profile_arn: str, where: set[str]
) -> None:
    assembly = deployment(name)
    profile = (
        {(INVOKE, profile_arn, ""), ("bedrock:GetInferenceProfile", profile_arn, "")}
        if profile_arn
        else set()
    )

    settings = AnswerSettings.from_env(assembly.variables("catalog-tools"))

    assert granted_model_rights(assembly) == profile | {
        (INVOKE, each, profile_arn) for each in where
    }
    assert settings.answer_model_arn == (profile_arn or next(iter(where)))


def test_guardrail_is_granted_to_answering_and_searching_functions(
    assembly: Assembly, customised: Assembly
) -> None:
    rights = {
        ("bedrock:ApplyGuardrail", "guardrail/gr123"),
        ("bedrock:ApplyGuardrail", "guardrail-profile/*"),
    }

    for function in ("retrieve", "catalog-tools", "console", "agent-runner"):
        variables = customised.variables(function)
        assert (variables["GUARDRAIL_ID"], variables["GUARDRAIL_VERSION"]) == ("gr123", "DRAFT")
        assert rights <= customised.granted(function)
        assert not {"GUARDRAIL_ID", "GUARDRAIL_VERSION"} & assembly.variables(function).keys()


def test_too_long_prompt_is_refused_with_the_limit(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("ü" * 1000 + " $search_results$ $output_format_instructions$", "utf-8")
    app = cdk.App(context={**RIGHT, "answer_prompt_file": str(prompt)})

    with pytest.raises(ValueError, match="at most 2,000 bytes"):
        AnswerModel.from_context(app)
