"""Who may ask which model and apply which guardrail, by what the context says."""

from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.answers import AnswerModel
from stackroom.app.function_settings import AnswerSettings
from stackroom.aws.bedrock.answer_prompt import DEFAULT
from tests.infra.assembly import Assembly, listed
from tests.infra.synthesis import NOVA, RIGHT, ROOT, deployment

NOVA_2 = "amazon.nova-2-lite-v1:0"
PROFILES = "arn:aws:bedrock:{region}:{account}:inference-profile"
Right = tuple[str, str, str]


def invoked(assembly: Assembly) -> set[Right]:
    """Action, model or profile, and the profile that it must go by, of who answers."""
    found: set[Right] = set()
    for policy in assembly.all("gateway", "AWS::IAM::Policy"):
        if not policy.properties["Roles"][0].endswith("-catalog-tools-{region}"):
            continue
        for statement in policy.properties["PolicyDocument"]["Statement"]:
            by = statement.get("Condition", {}).get("StringEquals", {})
            found |= {
                (action, resource, by.get("bedrock:InferenceProfileArn", ""))
                for action in listed(statement["Action"])
                for resource in listed(statement["Resource"])
                if "nova" in resource
            }
    return found


INVOKE = "bedrock:InvokeModel"


@pytest.mark.parametrize(
    ("name", "asked", "where"),
    [
        ("hierarchical", "", {f"arn:aws:bedrock:{{region}}::foundation-model/{NOVA}"}),
        (
            "otherwise",
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
def test_one_model_may_be_asked_and_where_it_runs_and_only_by_its_profile(
    name: str, asked: str, where: set[str]
) -> None:
    assembly = deployment(name)
    profile = {(INVOKE, asked, ""), ("bedrock:GetInferenceProfile", asked, "")} if asked else set()

    told = AnswerSettings.from_env(assembly.variables("catalog-tools"))

    assert invoked(assembly) == profile | {(INVOKE, each, asked) for each in where}
    assert told.answer_model_arn == (asked or next(iter(where)))


def test_what_a_model_is_told_reaches_the_function(assembly: Assembly, otherwise: Assembly) -> None:
    own = (ROOT / "tests" / "infra" / "prompt.txt").read_text("utf-8")
    for each, prompt in ((assembly, None), (otherwise, own)):
        told = AnswerSettings.from_env(each.variables("catalog-tools"))

        assert told.answer_prompt == prompt
        # Which has no resource type; answers are written from what a search found.
        assert ("bedrock:RetrieveAndGenerate", "*") not in each.granted("catalog-tools")


def test_a_guardrail_is_applied_by_who_answers_and_by_who_searches(
    assembly: Assembly, otherwise: Assembly
) -> None:
    may = ("bedrock:ApplyGuardrail", "guardrail/gr123")

    for function in ("retrieve", "catalog-tools", "console", "agent-runner"):
        variables = otherwise.variables(function)
        assert (variables["GUARDRAIL_ID"], variables["GUARDRAIL_VERSION"]) == ("gr123", "DRAFT")
        assert may in otherwise.granted(function)
        assert not {"GUARDRAIL_ID", "GUARDRAIL_VERSION"} & assembly.variables(function).keys()


def prompted(tmp_path: Path, text: str) -> str | None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(text, "utf-8")
    app = cdk.App(context={**RIGHT, "answer_prompt_file": str(prompt)})
    return AnswerModel.from_context(app).prompt


def test_default_prompt_is_accepted_and_too_long_one_refused(tmp_path: Path) -> None:
    long = "ü" * 1000 + " $search_results$ $output_format_instructions$"

    assert prompted(tmp_path, DEFAULT) == DEFAULT
    with pytest.raises(ValueError, match="2,000 bytes"):
        prompted(tmp_path, long)
