"""A third party's agents and their knowledge bases in a local mode, deployed by the CDK's CLI."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackroom_local.clients import client
from stackroom_local.simulator.script_orders import order
from stackroom_local.state import Instance
from tests.e2e.people import eventually

APP = Path(__file__).with_name("agents_app")
CDK = ("npx", "--yes", "aws-cdk@2.1148.1")
MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
TOOL = "retrieve_from_knowledge_base"
_OVER = {"COMPLETE", "FAILED", "STOPPED"}


def cdk(instance: Instance, verb: str, *options: str, cwd: Path, app: str) -> None:
    """As in a shell after `eval "$(stackroom env --operator)"`."""
    command = [*CDK, verb, "--app", app, "-c", "stackroom:bundling=none", "--no-notices", *options]
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
    instance: Instance
    outputs: Mapping[str, Mapping[str, str]]  # by stack

    @classmethod
    def deployed(cls, instance: Instance, folder: Path) -> "Island":
        told = folder / "outputs.json"
        cdk(
            instance,
            "deploy",
            "--all",
            "--require-approval=never",
            f"--outputs-file={told}",
            f"--output={folder / 'cdk.out'}",
            cwd=APP,
            app=f"{sys.executable} app.py",
        )
        return cls(instance, json.loads(told.read_text("utf-8")))

    def client(self, service: str) -> Any:
        specific = "AWS_ENDPOINT_URL_" + service.replace("-", "_").upper()
        environment = self.instance.environment()
        return client(service, environment.get(specific, self.instance.aws_endpoint))

    def drop(self, key: str, text: str, **attributes: Any) -> None:
        """A document, with its sidecar if it has attributes."""
        s3, bucket = self.client("s3"), self.outputs["Library"]["Bucket"]
        s3.put_object(Bucket=bucket, Key=key, Body=text.encode())
        if attributes:
            sidecar = json.dumps({"metadataAttributes": attributes}).encode()
            s3.put_object(Bucket=bucket, Key=f"{key}.metadata.json", Body=sidecar)

    def ingest(self, name: str) -> dict[str, Any]:
        """The statistics of an ingestion job of this knowledge base, once it is over."""
        bedrock, told = self.client("bedrock-agent"), self.outputs["Library"]
        source = {"knowledgeBaseId": told[f"{name}Id"], "dataSourceId": told[f"{name}Source"]}
        busy = bedrock.exceptions.ThrottlingException

        def start() -> str:
            try:
                return str(bedrock.start_ingestion_job(**source)["ingestionJob"]["ingestionJobId"])
            except busy:  # one start in ten seconds of AWS's
                return ""

        job_id = eventually(start, "an ingestion job that starts")
        job: dict[str, Any] = {"status": "STARTING"}
        deadline = time.monotonic() + 120
        while job["status"] not in _OVER and time.monotonic() < deadline:
            job = bedrock.get_ingestion_job(**source, ingestionJobId=job_id)["ingestionJob"]
            time.sleep(0.05)
        assert job["status"] == "COMPLETE", job
        return dict(job["statistics"])

    def found(self, name: str, query: str) -> list[str]:
        """The texts that Bedrock's Retrieve answers of this knowledge base."""
        answer = self.client("bedrock-agent-runtime").retrieve(
            knowledgeBaseId=self.outputs["Library"][f"{name}Id"],
            retrievalQuery={"text": query},
        )
        return [each["content"]["text"] for each in answer["retrievalResults"]]

    def ask(self, agent: str, question: str, **event: Any) -> dict[str, Any]:
        """What the function of this agent answers."""
        return self.invoke(self.outputs["Agents"][f"{agent}Function"], question, **event)

    def invoke(self, function: str, question: str, **event: Any) -> dict[str, Any]:
        """What the agent with this function answers."""
        asked = {"contentType": "data", "content": {"data": question}, **event}
        answer = self.client("lambda").invoke(
            FunctionName=function, Payload=json.dumps(asked).encode()
        )
        told = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, told
        return dict(told)

    def function_of(self, stack: str) -> str:
        """The name of the one function that a stack has."""
        resources = self.client("cloudformation").describe_stack_resources(StackName=stack)
        [name] = [
            each["PhysicalResourceId"]
            for each in resources["StackResources"]
            if each["ResourceType"] == "AWS::Lambda::Function"
        ]
        return str(name)

    def environment(self, agent: str) -> dict[str, str]:
        """The variables of an agent's function."""
        name = self.outputs["Agents"][f"{agent}Function"]
        found = self.client("lambda").get_function_configuration(FunctionName=name)
        return dict(found["Environment"]["Variables"])

    def say(self, where: str, *turns: Mapping[str, Any], model: str = MODEL) -> None:
        """What the model says wherever these words stand in what it reads."""
        order(self.instance.simulator_endpoint, {"model": model, "where": where, "turns": turns})


def searches(query: str) -> dict[str, Any]:
    """A turn of the model: it searches."""
    return {"uses": [{"name": TOOL, "input": {"query": query}}]}


# A turn of the model that repeats what the tool answered, whole.
REPEATS = {"text": "{{all}}", "quotes": {"all": r"(?s)(.+)"}}
