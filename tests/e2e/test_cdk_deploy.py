"""
The CDK's CLI deploys into the local cloud as into AWS: the agents of docs/agents.md, and a second
Stackroom.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.e2e.people import eventually
from tests.local.running import local_mode

ROOT = Path(__file__).parents[2]
CDK = ROOT / ".venv" / "bin" / "cdk"
SECTIONS = (ROOT / "docs" / "agents.md").read_text("utf-8").split("\n## ")
FIRST, INTERACTIVE = SECTIONS[1:3]
MARK = "----- the next step -----"


@pytest.fixture(scope="module", autouse=True)
def cli() -> None:
    subprocess.run(["make", "cdk"], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own: the stacks of others would be counted in the one that all share."""
    with local_mode(tmp_path_factory.mktemp("cdk") / "state") as running:
        yield running


def cdk(instance: Instance, verb: str, *options: str, cwd: Path, app: str) -> None:
    """Run the CDK in a shell after `eval "$(stackroom env --operator)"`."""
    command = [str(CDK), verb, "--app", app, "--no-notices", *options]
    environment = {
        **os.environ,
        **instance.environment(),
        "CDK_DISABLE_CLI_TELEMETRY": "1",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
    }
    run = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]


def blocks(language: str, section: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_page_shows_parts_of_the_apps_that_are_deployed() -> None:
    for section, name in ((FIRST, "first_agent"), (INTERACTIVE, "interactive_agent")):
        [shown] = blocks("python", section)
        assert shown in (ROOT / "examples" / name / "app.py").read_text("utf-8")


def printed(instance: Instance, tmp_path: Path, *sections: str) -> list[str]:
    """Return what each bash block of the sections prints, run as they stand in one shell."""
    for name in (".venv", "cdk.json", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)  # what is written there is nobody else's
    steps = [step for section in sections for step in blocks("bash", section)]
    script = f"\necho '{MARK}'\n".join(["set -euo pipefail\n", *steps])

    run = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "STACKROOM_STATE_DIR": str(instance.state_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout.split(MARK)[1:]


def test_commands_of_the_page_lead_to_answers_and_leave_nothing(
    instance: Instance, tmp_path: Path
) -> None:
    before = there(instance)

    _, _, ingested, asked, _, deployed, streamed, _ = printed(
        instance, tmp_path, FIRST, INTERACTIVE
    )

    [answer] = blocks("text", FIRST)
    assert '"COMPLETE"' in ingested
    assert re.sub(r"s3://firstagent-documents[^/]*", "s3://...", asked).endswith(
        " ".join(answer.split())
    )
    [shown] = blocks("text", INTERACTIVE)
    events = [
        json.loads(line.removeprefix("data: ")) for line in streamed.split("\n") if "data:" in line
    ]
    assert '"COMPLETE"' in deployed
    assert streamed.strip().startswith(shown.strip())
    assert "Probation lasts **four months**." in "".join(each.get("text", "") for each in events)
    assert events[-1] == {"done": True}
    assert there(instance) == before


def there(instance: Instance) -> list[set[str]]:
    """Stacks, functions, buckets and knowledge bases."""
    aws = instance.client
    bases = aws("bedrock-agent").list_knowledge_bases()["knowledgeBaseSummaries"]
    return [
        {each["StackName"] for each in aws("cloudformation").describe_stacks()["Stacks"]},
        {each["FunctionName"] for each in aws("lambda").list_functions()["Functions"]},
        {each["Name"] for each in aws("s3").list_buckets()["Buckets"]},
        {each["knowledgeBaseId"] for each in bases},
    ]


def test_a_second_stackroom_indexes_and_its_own_gateway_is_refused_by_name(
    instance: Instance, tmp_path: Path
) -> None:
    """Bootstrapped first; what AWS alone has is refused before anything is made."""
    app, output = f"{sys.executable} infra/app.py", f"--output={tmp_path}"
    context = ("-c", "project=second", "-c", "bundling=none", output)
    target = ("second-pipeline", "--require-approval=never")
    cloudformation = instance.client("cloudformation")

    cdk(instance, "bootstrap", f"aws://{ACCOUNT}/{REGION}", *context, cwd=ROOT, app=app)
    cdk(instance, "deploy", *target, *context, cwd=ROOT, app=app)

    outputs = deployed(instance)
    assert len(list(tmp_path.glob("second-*.template.json"))) == 6
    assert outputs.keys() == {"second-data", "second-knowledge-base", "second-pipeline"}
    key, data = "zoe/travel/ferry.txt", outputs["second-data"]
    instance.client("s3").put_object(
        Bucket=data["BucketName"], Key=key, Body=b"The ferry to Harrow leaves at 21:15."
    )

    def status() -> str | None:
        items = instance.client("dynamodb").scan(TableName=data["CatalogTableName"])
        found = [each for each in items["Items"] if each.get("s3_key") == {"S": key}]
        return found[0]["status"]["S"] if found else None

    eventually(lambda: status() == "indexed", f"{key} is indexed")
    with pytest.raises(ClientError, match="AWS::BedrockAgentCore::Gateway"):
        cloudformation.create_stack(
            StackName="second-gateway",
            TemplateBody=(tmp_path / "second-gateway.template.json").read_text("utf-8"),
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
    assert "second-gateway" not in deployed(instance)


def deployed(instance: Instance) -> dict[str, dict[str, str]]:
    """The outputs of the second Stackroom's stacks, by stack."""
    found = instance.client("cloudformation").describe_stacks()["Stacks"]
    return {
        each["StackName"]: {out["OutputKey"]: out["OutputValue"] for out in each.get("Outputs", [])}
        for each in found
        if each["StackName"].startswith("second-") and each["StackStatus"] == "CREATE_COMPLETE"
    }
