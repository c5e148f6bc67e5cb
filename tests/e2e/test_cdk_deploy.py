"""
What the CDK's CLI puts into the local cloud as it is put into AWS: agents of a third party, the
first agent of docs/agents.md, and a second Stackroom.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from bedrock_kb_simulator.scripts import order
from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.e2e.people import eventually
from tests.local.running import local_mode

ROOT = Path(__file__).parents[2]
ISLAND = Path(__file__).with_name("agents_app")
CDK = ROOT / ".venv" / "bin" / "cdk"
MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
SECTIONS = (ROOT / "docs" / "agents.md").read_text("utf-8").split("\n## ")
FIRST, INTERACTIVE = SECTIONS[1:3]
MARK = "----- the next step -----"
FERRY = "The ferry to Gull Rock leaves every 40 minutes."
HERON = "Herons breed in the alder wood behind the mill."


@pytest.fixture(scope="module", autouse=True)
def cli() -> None:
    subprocess.run(["make", "cdk"], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own: the stacks of others would be counted in the one that all share."""
    with local_mode(tmp_path_factory.mktemp("cdk") / "state") as running:
        yield running


def cdk(instance: Instance, verb: str, *options: str, cwd: Path, app: str) -> None:
    """As in a shell after `eval "$(stackroom env --operator)"`."""
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


@dataclass(frozen=True)
class Island:
    """The app in agents_app, as it is deployed."""

    instance: Instance
    outputs: Mapping[str, Mapping[str, str]]  # by stack

    def client(self, service: str) -> Any:
        return self.instance.client(service)

    def drop(self, key: str, text: str) -> None:
        bucket = self.outputs["Library"]["Bucket"]
        self.client("s3").put_object(Bucket=bucket, Key=key, Body=text.encode())

    def ingest(self, name: str) -> None:
        """Returns once an ingestion job of this knowledge base is complete."""
        bedrock, told = self.client("bedrock-agent"), self.outputs["Library"]
        source = {"knowledgeBaseId": told[f"{name}Id"], "dataSourceId": told[f"{name}Source"]}
        busy = bedrock.exceptions.ThrottlingException

        def start() -> str:
            try:
                return str(bedrock.start_ingestion_job(**source)["ingestionJob"]["ingestionJobId"])
            except busy:  # one start in ten seconds of AWS's
                return ""

        def over() -> dict[str, Any] | None:
            job = bedrock.get_ingestion_job(**source, ingestionJobId=job_id)["ingestionJob"]
            return dict(job) if job["status"] in {"COMPLETE", "FAILED", "STOPPED"} else None

        job_id = eventually(start, "an ingestion job that starts")
        job = eventually(over, "an ingestion job that is over") or {}
        assert job["status"] == "COMPLETE", job

    def ask(self, agent: str, question: str, **event: Any) -> dict[str, Any]:
        """What the function of this agent answers."""
        asked = {"contentType": "data", "content": {"data": question}, **event}
        answer = self.client("lambda").invoke(
            FunctionName=self.outputs["Agents"][f"{agent}Function"],
            Payload=json.dumps(asked).encode(),
        )
        told = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, told
        return dict(told)

    def say(self, where: str, *turns: Mapping[str, Any]) -> None:
        """What the model says wherever these words stand in what it reads."""
        script = {"model": MODEL, "where": where, "turns": turns}
        order(self.instance.simulator_endpoint, script, key=self.instance.root_key)


def searches(query: str) -> dict[str, Any]:
    """A turn of the model: it searches."""
    return {"uses": [{"name": "retrieve_from_knowledge_base", "input": {"query": query}}]}


# A turn of the model that repeats what the tool answered, whole.
REPEATS = {"text": "{{all}}", "quotes": {"all": r"(?s)(.+)"}}


@pytest.fixture(scope="module")
def island(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Island:
    folder = tmp_path_factory.mktemp("island-app")
    told = folder / "outputs.json"
    options = (f"--outputs-file={told}", f"--output={folder / 'cdk.out'}")
    cdk(
        instance,
        "deploy",
        *("--all", "--require-approval=never", "-c", "stackroom:bundling=none", *options),
        cwd=ISLAND,
        app=f"{sys.executable} app.py",
    )
    made = Island(instance, json.loads(told.read_text("utf-8")))
    made.drop("tides/ferry.md", f"# Ferry\n\n{FERRY}")
    made.drop("birds/heron.md", f"# Herons\n\n{HERON}")
    for name in ("Tides", "Birds"):
        made.ingest(name)
    return made


def test_an_answer_from_two_knowledge_bases_cites_both_documents(island: Island) -> None:
    question = "When does the ferry leave, and where do herons breed?"
    island.say(
        question,
        searches("ferry; where herons breed"),
        {
            "text": "{{ferry}} [{{timetable}}] {{heron}} [{{guide}}]",
            "quotes": {
                "ferry": r"(The ferry to [^\n]*)",
                "timetable": r"(s3://\S+/ferry\.md)",
                "heron": r"(Herons breed [^\n]*)",
                "guide": r"(s3://\S+/heron\.md)",
            },
        },
    )

    told = island.ask("both", question)

    bucket = island.outputs["Library"]["Bucket"]
    assert told == {
        "success": True,
        "result": (
            f"{FERRY} [s3://{bucket}/tides/ferry.md] {HERON} [s3://{bucket}/birds/heron.md]"
        ),
    }


def test_an_agent_reads_no_file_that_its_role_does_not_allow(island: Island) -> None:
    content = {
        "location": "s3",
        "bucket": island.outputs["Library"]["Bucket"],
        "key": "tides/ferry.md",
    }

    told = island.ask("both", "", contentType="file", content=content)

    # Bedrock's knowledge base has read it, and root can; the function's role can't.
    assert island.client("s3").head_object(Bucket=content["bucket"], Key=content["key"])
    assert (told["success"], told["errorType"]) == (False, "ObjectRefused")


def test_a_tool_of_a_third_party_finds_its_module_in_a_layer(island: Island) -> None:
    question = "Who looks after the harbour?"
    island.say(question, {"uses": [{"name": "harbour_master", "input": {}}]}, REPEATS)

    told = island.ask("tooled", question)

    assert told["result"] == "The harbour master is Orla Finch."


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
