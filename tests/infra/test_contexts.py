"""Every setting of a context deploys: synthesised with cdk-nag, by the rules of CloudFormation."""

import json
import subprocess
import sys

import pytest

from infra import preflight
from infra.contexts import parse_context
from tests.infra.opensearch import cached_assembly
from tests.infra.rules import rule_violations, unknown_values
from tests.infra.synthesis import CONTEXTS, ROOT, deployment

OTHERS = tuple(name for name, context in CONTEXTS.items() if context)


def test_every_setting_is_changed_in_some_context() -> None:
    defaults = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    settings = {name for name in defaults if not name.startswith("@")} - {"bundling"}
    changed = {
        name
        for context in CONTEXTS.values()
        for name, value in context.items()
        if value != defaults[name]
    }

    assert changed == settings


@pytest.mark.parametrize("name", OTHERS)
def test_deployment_breaks_no_rule_in_any_context(name: str) -> None:
    assembly = deployment(name)

    assert rule_violations(assembly) == []


def test_templates_in_all_contexts_name_known_actions_and_values() -> None:
    assemblies = [deployment(name) for name in ("customised", "managed", "encrypted")]

    assert unknown_values(*assemblies) == []


def test_opensearch_stack_breaks_no_rule() -> None:
    assembly = cached_assembly()

    assert (rule_violations(assembly), unknown_values(assembly)) == ([], [])


def test_app_script_refuses_an_unknown_setting() -> None:
    command = [sys.executable, "infra/app.py", "-c", "project=docs", "-c", "nosuch=1"]

    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )

    assert done.returncode == 1
    assert "context 'nosuch' is no setting" in done.stderr
    with pytest.raises(ValueError, match="-c console has no value"):
        parse_context(["project=docs", "console"])


def test_preflight_plans_the_deployment_of_its_settings() -> None:
    found, planned = preflight.settings({"project": "docs", "ocr": "textract"})

    assert (found.mark, found.text) == ("ok", "project 'docs', 6 stacks")
    assert planned is not None
    assert [each.foundation for each in planned.models] == [
        "amazon.titan-embed-text-v2:0",
        "amazon.nova-2-lite-v1:0",
    ]
    assert planned.ocr
