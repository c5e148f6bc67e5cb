"""A batch agent's function: S3 and SQS in memory, a model that plays, Strands' own loop."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from strands.models import Model

import stackroom_agents.batch_handler as function
from stackroom.aws import session
from stackroom_agents import registry
from stackroom_agents.batch import event_agent
from tests.agents.linked import FakeRetrieve
from tests.agents.models import ModelOutput, PlayedModel
from tests.functions.printed import Printed, listening
from tests.support.lambda_context import Context

BUCKET = "assets"
ANSWERS = "answers"
PROMPT = "You read documents.\r\nBe brief."


@dataclass
class World:
    monkeypatch: pytest.MonkeyPatch
    printed: Printed
    knowledge_bases: FakeRetrieve = field(default_factory=FakeRetrieve)
    model: PlayedModel = field(default_factory=PlayedModel)

    def __post_init__(self) -> None:
        self.s3.create_bucket(Bucket=BUCKET)
        self.put("prompt.txt", PROMPT.encode())
        self.set(
            SYSTEM_PROMPT_S3_BUCKET_NAME=BUCKET,
            SYSTEM_PROMPT_S3_KEY="prompt.txt",
            TOOLS_CONFIG="[]",
            MODEL_ID="a-model",
            PROMPT="Sum up.",
        )
        self.monkeypatch.setattr(registry, "client_of", self.knowledge_bases)
        self.monkeypatch.setattr(event_agent, "bedrock_model", self._model)

    def _model(self, model_id: str) -> Model:
        assert model_id == "a-model"
        return self.model

    @property
    def s3(self) -> Any:
        return session.client("s3")

    @property
    def sqs(self) -> Any:
        return session.client("sqs")

    def set(self, **variables: str) -> None:
        """Set environment variables; the function starts anew."""
        for name, value in variables.items():
            self.monkeypatch.setenv(name, value)
        function._agent.cache_clear()

    def put(self, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    def says(self, *said: ModelOutput) -> PlayedModel:
        """The model, turn by turn, in every conversation."""
        self.model = PlayedModel(*said)
        function._agent.cache_clear()
        return self.model

    def plays(self, model: PlayedModel) -> PlayedModel:
        self.model = model
        function._agent.cache_clear()
        return model

    def ask(self, event: object, context: Any = None) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            json.dumps(function.handler(event, context or Context()), allow_nan=False)  # type: ignore[arg-type]
        )
        return answer

    def answers_queue(self, name: str = ANSWERS, **attributes: str) -> str:
        url = str(self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])
        self.set(ANSWERS_QUEUE_URL=url)
        return url

    def answers(self, url: str) -> list[dict[str, Any]]:
        got = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        return [json.loads(each["Body"]) for each in got.get("Messages", ())]


def data(text: str, **more: object) -> dict[str, object]:
    return {"contentType": "data", "content": {"data": text}, **more}


def file(key: str, **more: object) -> dict[str, object]:
    where = {"location": "s3", "bucket": BUCKET, "key": key}
    return {"contentType": "file", "content": where, **more}


def messages(*bodies: object, queue: str = "questions") -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m-{number}",
                "body": body if isinstance(body, str) else json.dumps(body),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
                "attributes": {},
            }
            for number, body in enumerate(bodies, start=1)
        ]
    }


def zipped(files: Mapping[str, str]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return body.getvalue()


def listening_to(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    return listening([function.logger], monkeypatch, capsys)
