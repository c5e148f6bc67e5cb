"""
The run of agents: their handler in a process of its own, with the environment of its template.

A simulator answers for Bedrock and plays the models, ministack for S3 and SQS.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bedrock_kb_simulator import scripts
from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.running import ministack
from simulator.tests.world import World, client
from stackroom_local.clients import endpoint_variables
from stackroom_local.state import ACCOUNT, REGION
from tests.campaigns.permissions.agent_stack import (
    ANSWERS,
    CHUNKS,
    CLERK,
    GUARDRAIL,
    INTAKE,
    LETTERS,
    LIBRARIAN,
    MANUALS,
    MECHANIC,
    MODELS,
    PARTS,
    RATES,
    synthesised,
)
from tests.campaigns.permissions.aws_call_recorder import VARIABLE
from tests.campaigns.permissions.needs import Names, needs
from tests.campaigns.permissions.recorded import lines_in
from tests.campaigns.permissions.roles import Comparison, Grant, is_on_purpose, roles
from tests.infra.assembly import Assembly

_QUESTION = "How often is the pump greased, and what did Ada write?"
_SEARCH = {"name": "retrieve_from_knowledge_base", "input": {"query": _QUESTION}}
_TEXT = "AMAZON_BEDROCK_TEXT"
_QUOTES = {"hours": r"every (\d+ hours)", "wish": r"a new (\w+)"}
_ANSWER = "Every {{hours}}; Ada wants a new {{wish}}."
ANSWER = "Every 200 hours; Ada wants a new bench."
_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": REGION,
}
_IDENTITY = {"user_id": "grace", "groups": ["office"]}
_SCRIPTS: Mapping[str, list[dict[str, Any]]] = {
    CLERK: [
        {"uses": [_SEARCH, {"name": "rate_of", "input": {"currency": "EUR"}}]},
        {
            "text": _ANSWER + " {{rate}} it is.",
            "quotes": {**_QUOTES, "rate": "EUR: .*(1[.]08)"},
        },
    ],
    **{
        agent: [{"uses": [_SEARCH]}, {"text": _ANSWER, "quotes": _QUOTES}]
        for agent in (LIBRARIAN, MECHANIC)
    },
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`answers` are those of the functions, by agent; `sent` what is in the queue of answers."""

    comparison: Comparison
    answers: Mapping[str, Sequence[Any]]
    sent: Sequence[Any]

    @property
    def unused(self) -> list[Grant]:
        """Return the grants that nothing used and nobody granted on purpose."""
        return [each for each in self.comparison.unused if not is_on_purpose(each)]

    @property
    def on_purpose(self) -> list[Grant]:
        return [each for each in self.comparison.unused if is_on_purpose(each)]


def run(tell: Callable[[str], object]) -> Outcome:
    """All that agents do: a text, a document, a message of a queue, with tools and searches."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assembly = synthesised(folder)
        calls = folder / "calls"
        calls.mkdir()
        with _world(folder) as world:
            place = _Place(assembly=assembly, world=world, calls=calls)
            place.prepare()
            answers = {}
            for agent, events in _events().items():
                tell(f"agent {agent}")
                answers[agent] = place.ask(agent, events)
            sent = place.sent()
        comparison = Comparison(roles(assembly))
        for line in lines_in(calls):
            comparison.add(needs(line, place.names))
        return Outcome(comparison=comparison, answers=answers, sent=sent)


def _events() -> dict[str, list[dict[str, Any]]]:
    text = {"contentType": "data", "content": {"data": _QUESTION}, "identity": _IDENTITY}
    where = {"location": "s3", "bucket": INTAKE, "key": "letters/ada.txt"}
    file = {"contentType": "file", "content": where, "identity": _IDENTITY}
    record = {"messageId": "m-1", "body": json.dumps(text), "eventSource": "aws:sqs"}
    return {CLERK: [text, file, {"Records": [record]}], LIBRARIAN: [text], MECHANIC: [text]}


@contextmanager
def _world(folder: Path) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch, ministack() as aws:
        for name, value in _CREDENTIALS.items():
            patch.setenv(name, value)
        configuration = Configuration(data_dir=folder / "simulator", s3_endpoint=aws, speed=100)
        with Simulator(configuration) as simulator:
            yield World(simulator.endpoint, aws, patient=True)


class _Place:
    """Names that the templates use, with their values where the agents run."""

    def __init__(self, *, assembly: Assembly, world: World, calls: Path) -> None:
        self._assembly, self._world, self._calls = assembly, world, calls
        self._sqs = client("sqs", world.s3_endpoint)
        self._answers: str = self._sqs.create_queue(QueueName=ANSWERS)["QueueUrl"]
        manuals = {"pump.txt": "The pump is greased every 200 hours."}
        letters = {"ada.txt": "Ada writes that she wants a new bench."}
        self._ids = {
            MANUALS: self._knowledge_base("manuals/", manuals, {}),
            LETTERS: self._knowledge_base("letters/", letters, {"allowed_groups": ["office"]}),
            GUARDRAIL: world.guardrail(words=["nuisance"]),
        }
        self._fill_index([*manuals.values(), *letters.values()])

    def prepare(self) -> None:
        """The assets where CloudFormation would have put them, the intake, the models."""
        self._world.s3.create_bucket(Bucket=INTAKE)
        for key in (RATES, "letters/ada.txt"):
            self._world.s3.put_object(Bucket=INTAKE, Key=key, Body=b'{"EUR": 1.08}')
        for file in sorted(self._assembly.directory.glob("*.assets.json")):
            for each in json.loads(file.read_text("utf-8"))["files"].values():
                if each["source"]["packaging"] == "file":
                    self._upload(each)
        for agent, turns in _SCRIPTS.items():
            scripts.order(self._world.endpoint, {"model": MODELS[agent], "turns": turns})

    @property
    def names(self) -> Names:
        others = {made: name for name, made in self._ids.items()}
        return Names(account=ACCOUNT, region=REGION, others=others)

    def ask(self, agent: str, events: Sequence[Mapping[str, Any]]) -> list[Any]:
        """One process for all of them, as Lambda has it."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.campaigns.permissions.agent_process"],
            env={**os.environ, **self._environment(agent)},
            input="".join(f"{json.dumps(event)}\n" for event in events),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def sent(self) -> list[Any]:
        got = self._sqs.receive_message(QueueUrl=self._answers, MaxNumberOfMessages=10)
        return [json.loads(each["Body"]) for each in got.get("Messages", ())]

    def _environment(self, agent: str) -> dict[str, str]:
        function = self._assembly.one(agent, "AWS::Lambda::Function", "AgentFunction")
        variables: dict[str, str] = function.properties["Environment"]["Variables"]
        found = {name: self._known(value) for name, value in variables.items()}
        if "ANSWERS_QUEUE_URL" in found:
            found["ANSWERS_QUEUE_URL"] = self._answers
        return {
            **found,
            **endpoint_variables(self._world.s3_endpoint, self._world.endpoint),
            "AWS_REGION": REGION,
            "AWS_LAMBDA_FUNCTION_NAME": agent,
            VARIABLE: str(self._calls),
        }

    def _known(self, text: str) -> str:
        """In the names of here what the template says in its own."""
        for name, made in self._ids.items():
            text = text.replace(name, made)
        return text.replace("{account}", ACCOUNT).replace("{region}", REGION)

    def _upload(self, asset: Mapping[str, Any]) -> None:
        body = (self._assembly.directory / asset["source"]["path"]).read_bytes()
        for each in asset["destinations"].values():
            bucket = (
                each["bucketName"]
                .replace("${AWS::AccountId}", ACCOUNT)
                .replace("${AWS::Region}", REGION)
            )
            self._world.s3.create_bucket(Bucket=bucket)
            self._world.s3.put_object(Bucket=bucket, Key=each["objectKey"], Body=body)

    def _fill_index(self, texts: Sequence[str]) -> None:
        """Under the names of the template, for whoever asks."""
        vectors = self._world.s3vectors
        vectors.create_vector_bucket(vectorBucketName=PARTS)
        made = vectors.create_index(
            vectorBucketName=PARTS,
            indexName=CHUNKS,
            dataType="float32",
            dimension=256,
            distanceMetric="cosine",
            metadataConfiguration={"textSearchConfigurations": [{"metadataKey": _TEXT}]},
        )
        for number, text in enumerate(texts):
            told = {_TEXT: text, "user_id": _IDENTITY["user_id"]}
            self._world.put_vector(made["indexArn"], str(number), self._embedded(text), **told)

    def _embedded(self, text: str) -> list[float]:
        asked = {"inputText": text, "dimensions": 256, "normalize": True}
        answer = self._world.bedrock_runtime.invoke_model(
            modelId="amazon.titan-embed-text-v2:0", body=json.dumps(asked)
        )
        vector: list[float] = json.loads(answer["body"].read())["embedding"]
        return vector

    def _knowledge_base(
        self, prefix: str, documents: Mapping[str, str], attributes: Mapping[str, object]
    ) -> str:
        for name, text in documents.items():
            self._world.put(prefix + name, text, sidecar=attributes or None)
        made = self._world.knowledge_base()
        self._world.sync(made, self._world.data_source(made, prefix))
        return made
