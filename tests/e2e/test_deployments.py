"""
The verbs on a deployment: the local cloud as if it were AWS, known by its stacks' outputs alone.

An operator is an IAM user with a key of their own; a person is who signs in, and has none.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.processes import free_ports
from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually
from tests.e2e.traffic import iam_user
from tests.local.running import STACKROOM, stackroom

ROOT = Path(__file__).parents[2]
ANYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@dataclass(frozen=True)
class Shell:
    """A shell on a machine that knows nothing of the local mode but where AWS answers."""

    environment: Mapping[str, str]

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [STACKROOM, *arguments],
            cwd=ROOT,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def says(self, *arguments: str) -> Any:
        """The JSON answer of a verb that did what it was asked."""
        done = self.run("--deployment", "here", *arguments, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def refuses(self, *arguments: str, **variables: str) -> str:
        """Why a verb failed, in a line."""
        done = self.run("--deployment", "here", *arguments, **variables)
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr


@pytest.fixture(scope="module")
def outputs(instance: Instance, aws: Callable[[str], Any]) -> dict[str, dict[str, str]]:
    """The stacks' outputs as `cdk deploy` writes them, with the local hosts."""
    found = {
        stack: {
            each["OutputKey"]: each["OutputValue"]
            for each in aws("cloudformation").describe_stacks(StackName=stack)["Stacks"][0][
                "Outputs"
            ]
        }
        for stack in ("stackroom-data", "stackroom-gateway")
    }
    found["stackroom-gateway"] |= {
        "McpUrl": instance.mcp_url,
        "IssuerUrl": instance.issuer,
        "ClientId": instance.client_id,
    }
    return found


@pytest.fixture(scope="module")
def nobody(
    instance: Instance,
    outputs: dict[str, dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Shell:
    """Without credentials, who has added the deployment."""
    home = tmp_path_factory.mktemp("elsewhere")
    (home / "outputs.json").write_text(json.dumps(outputs))
    endpoints = {
        name: value
        for name, value in instance.environment().items()
        if name.startswith("AWS_ENDPOINT_URL")
    }
    shell = Shell(
        {
            **endpoints,
            "AWS_ENDPOINT_URL_SQS": instance.aws_endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "STACKROOM_CONFIG": str(home / "config"),
        }
    )
    added = shell.run("deployments", "add", "here", "--outputs", str(home / "outputs.json"))
    assert added.returncode == 0, added.stderr
    return shell


@pytest.fixture(scope="module")
def operator(nobody: Shell, aws: Callable[[str], Any]) -> Iterator[Shell]:
    with iam_user(aws, "an-operator", ANYTHING) as (key_id, secret):
        keys = {"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": secret}
        yield Shell({**nobody.environment, **keys})


@pytest.fixture(scope="module")
def person(nobody: Shell) -> Shell:
    """Nina, signed in in a browser."""
    browser = f"{sys.executable} -m tests.sites.browser %s"
    shell = Shell({**nobody.environment, "BROWSER": browser, "STACKROOM_TEST_USER": "nina"})
    answer = shell.says("login", "--port", str(free_ports(1)))
    assert answer["user_id"] == "nina"
    return shell


@pytest.fixture(scope="module")
def nina(instance: Instance) -> Person:
    """Who has a document that is found, and one that failed."""
    person = Person(instance, "nina")
    person.settle(
        person.put_all({"tides/ebb.txt": "At Saltwick the ebb begins at four.", "tides/a.exe": "x"})
    )
    return person


@pytest.mark.parametrize(
    "verb",
    [("status", "-u", "nina"), ("reconcile", "--dry-run")],
    ids=" ".join,
)
def test_a_verb_answers_an_operator_of_a_deployment_as_it_does_here(
    nina: Person, operator: Shell, verb: tuple[str, ...]
) -> None:
    """Others' documents may settle between two answers; those at rest are the same in both."""

    def both_answer_alike() -> bool:
        here = stackroom(*verb, "--json", state_dir=nina.instance.state_dir)
        assert here.returncode == 0, here.stderr
        return bool(operator.says(*verb) == json.loads(here.stdout))

    eventually(both_answer_alike, f"an operator is answered as here: {' '.join(verb)}")


def test_deployment_is_read_from_its_stacks(operator: Shell, instance: Instance) -> None:
    added = operator.run(
        *("deployments", "add", "asked", "--project", "stackroom", "--region", "us-east-1"),
        "--json",
    )

    assert added.returncode == 0, added.stderr
    told = json.loads(added.stdout)
    assert (told["bucket"], told["project"]) == (instance.bucket, "stackroom")


def test_operator_drops_retries_and_deletes_on_a_deployment_as_locally(
    nina: Person, operator: Shell, tmp_path: Path
) -> None:
    folder = tmp_path / "charts"
    folder.mkdir()
    (folder / "reef.txt").write_text("The reef of Saltwick is called the Comb.")
    (folder / "b.exe").write_text("x")
    drop = ("drop", str(folder), "-u", "nina", "-c", "charts", "--wait", "--json")

    there = operator.run("--deployment", "here", *drop)
    here = stackroom(*drop, state_dir=nina.instance.state_dir)
    retried = operator.run("--deployment", "here", "retry", "-u", "nina", "nina/charts/b.exe")
    deleted = operator.says("delete", "nina/charts/reef.txt", "-u", "nina")

    assert (there.returncode, here.returncode) == (1, 1)
    assert outcomes(there.stdout) == outcomes(here.stdout)
    assert outcomes(there.stdout)["reef.txt"] == ("indexed", None)
    assert "1 of 1 were not retried" in retried.stderr
    assert [each["unsearchable_since"] is not None for each in deleted["receipts"]] == [True]
    assert nina.record("charts/reef.txt") is None

    emptied = operator.says("delete", "-u", "nina", "-c", "charts", "--yes")

    assert emptied["catalog_status"] is None
    assert nina.record("charts/b.exe") is None


def outcomes(printed: str) -> dict[str, tuple[str, str | None]]:
    files = json.loads(printed)["files"]
    return {each["filename"]: (each["status"], each["reason"]) for each in files}


def test_the_deployed_function_reconciles_and_doctor_finds_all_well(operator: Shell) -> None:
    assert operator.says("reconcile")["dry_run"] is False

    checks = operator.says("doctor")["checks"]

    assert all(each["good"] for each in checks), checks
    assert any("an-operator" in each["text"] for each in checks)
    assert any("its text search ACTIVE" in each["text"] for each in checks)


def test_person_asks_as_the_signed_in_user(nina: Person, person: Shell) -> None:
    question = ("When does the ebb begin at Saltwick?", "-c", "tides")

    there = person.says("ask", *question)
    here = stackroom("ask", *question, "-u", "nina", "--json", state_dir=nina.instance.state_dir)

    assert there["results"] == json.loads(here.stdout)["results"]
    assert "at four" in there["results"][0]["content"]
    assert person.says("whoami")["prefix"] == f"s3://{nina.instance.bucket}/nina/"


def test_a_person_drops_sees_and_deletes_without_credentials(
    nina: Person, person: Shell, tmp_path: Path
) -> None:
    (tmp_path / "wreck.txt").write_text("The wreck of the Esk lies off Saltwick Nab.")

    dropped = person.says("drop", str(tmp_path / "wreck.txt"), "-c", "wrecks", "--wait")
    seen = person.says("status")["documents"]
    catalogs = [each["name"] for each in person.says("catalogs")["catalogs"]]
    person.says("delete", "wreck.txt", "-c", "wrecks")
    person.says("delete", "-c", "wrecks", "--yes")

    assert [each["status"] for each in dropped["files"]] == ["indexed"]
    assert ("wrecks", "wreck.txt", "indexed") in {
        (each["catalog"], each["filename"], each["status"]) for each in seen
    }
    assert "wrecks" in catalogs
    assert "wrecks" not in [each["name"] for each in person.says("catalogs")["catalogs"]]
