"""Calls the catalog tools as the gateway does, for a given user and session."""

import base64
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import functions.catalog_tools.handler as catalog_tools
from tests.functions.pipeline import Pipeline
from tests.support.lambda_context import Context

Answer = dict[str, Any]
MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"


@dataclass
class GatewayContext(Context):
    headers: dict[str, str] | None = None
    tool: str = ""

    @property
    def client_context(self) -> SimpleNamespace | None:
        if self.headers is None:
            return None
        custom = {
            "bedrockAgentCoreToolName": self.tool,
            "bedrockAgentCorePropagatedHeaders": self.headers,
        }
        return SimpleNamespace(custom=custom)


def encoded(content: bytes | str) -> str:
    raw = content.encode() if isinstance(content, str) else content
    return base64.b64encode(raw).decode()


def text_of(answer: Answer) -> str:
    [block] = answer["content"]
    return str(block["text"])


def error_of(answer: Answer) -> tuple[str, str]:
    """Return the error's code and text."""
    assert answer["status"] == "error", answer
    return answer["metadata"]["error_code"], text_of(answer)


@dataclass(frozen=True, kw_only=True)
class Tools:
    pipeline: Pipeline
    user: str = "alice"
    session: str | None = "session-1"

    def of(self, user: str, session: str | None = "session-1") -> "Tools":
        return Tools(pipeline=self.pipeline, user=user, session=session)

    def call(self, tool: str, **arguments: object) -> Answer:
        headers = {"X-User-Sub": self.user}
        if self.session is not None:
            headers["X-Session-Id"] = self.session
        return self.raw(arguments, GatewayContext(headers=headers, tool=f"catalogs___{tool}"))

    def raw(self, event: object, context: Any) -> Answer:
        self.pipeline.monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "catalog_tools")
        answer: Answer = catalog_tools.handler(event, context)
        assert answer["metadata"]["tool_type"] == "knowledge_base"
        return answer

    def create(self, name: str = "Research") -> str:
        answer = self.call("create_catalog", catalog_name=name)
        assert answer["status"] == "success", answer
        return str(answer["metadata"]["catalog_id"])

    def upload(self, catalog_id: str, filename: str, content: str = "thirty days") -> str:
        """Upload the file, deliver its event, and return the document's id."""
        answer = self.call(
            "upload_to_catalog",
            catalog_id=catalog_id,
            filename=filename,
            file_content=encoded(content),
        )
        assert answer["status"] == "success", answer
        self.arrive(catalog_id, filename)
        return str(answer["metadata"]["document_id"])

    def arrive(self, catalog_id: str, filename: str) -> None:
        """Deliver the event of an object in the catalog."""
        self.pipeline.arrive(f"{self.user}/{catalog_id}/{filename}")

    def index(self, catalog_id: str, filename: str, content: str = "thirty days") -> str:
        """Upload the file and take a run of its catalog to the end."""
        document_id = self.upload(catalog_id, filename, content)
        self.run(catalog_id, filename)
        return document_id

    def run(self, catalog_id: str, filename: str) -> None:
        """Take the catalog's live run, which a change has requested, to its end."""
        key = f"{self.user}/{catalog_id}/{filename}"
        self.pipeline.settle(key)
