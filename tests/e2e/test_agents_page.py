"""docs/agents.md, from nothing to an answer: its lines are run as they stand, in one shell."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.clients import client
from stackroom_local.state import Instance
from tests.e2e.island import CDK
from tests.local.running import local_mode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8").split("\n## ")[1]
MARK = "----- the next step -----"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own, as somebody has who begins."""
    with local_mode(tmp_path_factory.mktemp("first-agent") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def printed(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block of the page printed, one after the other."""
    checkout = tmp_path_factory.mktemp("checkout")  # what is written there is nobody else's
    for name in (".venv", "cdk.json", "examples"):
        (checkout / name).symlink_to(ROOT / name)
    script = f"\necho '{MARK}'\n".join(["set -euo pipefail\n", *blocks("bash")])
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=checkout,
        env={**os.environ, "STACKROOM_STATE_DIR": str(instance.state_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout.split(MARK)[1:]


def test_the_app_on_the_page_is_the_one_that_is_deployed() -> None:
    [shown] = blocks("python")

    assert shown == (ROOT / "examples" / "first_agent" / "app.py").read_text("utf-8")


def test_the_page_make_and_the_tests_pin_the_same_cli() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")

    pins = set(re.findall(r"aws-cdk@([\d.]+)", PAGE + makefile + " ".join(CDK)))

    assert len(pins) == 1


def test_the_agent_answers_from_the_document_that_was_dropped(printed: list[str]) -> None:
    _, _, drop, ask, _ = printed
    [answer] = blocks("text")

    told = re.sub(r"s3://firstagent-documents[^/]*", "s3://...", ask)

    assert '"COMPLETE"' in drop
    assert told.endswith(" ".join(answer.split()))


def test_nothing_is_left_of_it(printed: list[str], instance: Instance) -> None:
    def listed(service: str, operation: str, key: str) -> list[dict[str, Any]]:
        found = getattr(client(service, instance.aws_endpoint), operation)()
        return list(found[key])

    stacks = {each["StackName"] for each in listed("cloudformation", "describe_stacks", "Stacks")}
    functions = {each["FunctionName"] for each in listed("lambda", "list_functions", "Functions")}
    buckets = {each["Name"] for each in listed("s3", "list_buckets", "Buckets")}
    agent = client("bedrock-agent", instance.simulator_endpoint)
    [knowledge_base] = agent.list_knowledge_bases()["knowledgeBaseSummaries"]

    assert "FirstAgent" not in stacks
    assert not [name for name in functions if name.startswith("FirstAgent")]
    assert not [name for name in buckets if name.startswith("firstagent")]
    assert knowledge_base["name"] == "stackroom-1"  # the pool's
