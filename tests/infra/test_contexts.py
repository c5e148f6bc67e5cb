"""Every setting of a context deploys: synthesised with cdk-nag, by the rules of CloudFormation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.assembly import Assembly
from tests.infra.opensearch import kept
from tests.infra.rules import broken, unknown
from tests.infra.synthesis import CONTEXTS, ROOT, deployment

OTHERS = tuple(name for name, context in CONTEXTS.items() if context)


def test_every_setting_is_said_otherwise_somewhere() -> None:
    stated = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    settings = {name for name in stated if not name.startswith("@")} - {"bundling"}

    changed = {
        name
        for context in CONTEXTS.values()
        for name, value in context.items()
        if value != stated[name]
    }

    assert changed == settings


@pytest.mark.parametrize("name", OTHERS)
def test_a_deployment_breaks_no_rule_whatever_its_context_says(name: str) -> None:
    assembly = deployment(name)

    assert broken(assembly) == []


def test_no_template_of_all_settings_names_an_action_or_value_that_is_none() -> None:
    made = [deployment(name) for name in ("otherwise", "managed", "encrypted")]

    assert unknown(*made) == []


def test_the_stack_of_a_collection_breaks_no_rule() -> None:
    assembly = kept()

    assert (broken(assembly), unknown(assembly)) == ([], [])


def test_the_script_writes_what_pytest_sees(assembly: Assembly, tmp_path: Path) -> None:
    command = [sys.executable, "infra/app.py", "--outdir", str(tmp_path)]

    # Proxies that lead nowhere: it needs neither the network nor credentials.
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    subprocess.run(command, cwd=ROOT, env={**os.environ, **nowhere}, check=True, timeout=600)

    written = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.template.json")}
    assert written == {path.name: path.read_text("utf-8") for path in assembly.files}


@pytest.mark.parametrize(
    ("told", "reason"),
    [("nosuch=1", "context 'nosuch' is no setting"), ("console", "-c console has no value")],
)
def test_the_script_takes_settings_and_refuses_what_is_none(told: str, reason: str) -> None:
    command = [sys.executable, "infra/app.py", "-c", "project=docs", "-c", told]

    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )

    assert done.returncode == 1
    assert reason in done.stderr
