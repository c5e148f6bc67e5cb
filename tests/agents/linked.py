"""Linked knowledge bases behind a client of bedrock-agent-runtime, in memory."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

LAWS: dict[str, Any] = {
    "knowledgeBaseId": "LAWS000001",
    "name": "Laws",
    "description": "The laws of leave.",
}
NEWS: dict[str, Any] = {
    "knowledgeBaseId": "NEWS000001",
    "name": "News",
    "description": "What is new.",
}


def configured(*entries: Mapping[str, Any]) -> str:
    return json.dumps(entries)


@dataclass
class FakeRetrieve:
    """
    The client, whichever service is asked for. A knowledge base finds all that it holds and the
    filter lets through; one in `blocked` has a guardrail that holds back everything; one in
    `failing` answers that code, with the question in its message.
    """

    held: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    blocked: set[str] = field(default_factory=set)
    failing: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, service: str) -> "FakeRetrieve":
        assert service == "bedrock-agent-runtime"
        return self

    def hold(
        self,
        entry: Mapping[str, Any],
        text: str,
        *,
        name: str = "a.txt",
        score: float = 0.5,
        **of: Any,
    ) -> None:
        uri = f"s3://theirs/{name}"
        found = {
            "content": {"type": "TEXT", "text": text},
            "location": {"type": "S3", "s3Location": {"uri": uri}},
            "metadata": {"x-amz-bedrock-kb-source-uri": uri, **of},
            "score": score,
        }
        self.held.setdefault(entry["knowledgeBaseId"], []).append(found)

    def hold_elsewhere(self, entry: Mapping[str, Any], text: str, **location: Any) -> None:
        """Add a document from a data source that is no bucket."""
        found = {"content": {"text": text}, "location": location, "metadata": {}, "score": 0.4}
        self.held.setdefault(entry["knowledgeBaseId"], []).append(found)

    def retrieve(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        time.sleep(self.seconds)
        key = request["knowledgeBaseId"]
        if code := self.failing.get(key):
            message = f"no: {request['retrievalQuery']['text']}"
            error: Any = {
                "Error": {"Code": code, "Message": message},
                "ResponseMetadata": {"HTTPStatusCode": 400},
            }
            raise ClientError(error, "Retrieve")
        if key in self.blocked and "guardrailConfiguration" in request:
            return {"retrievalResults": [], "guardrailAction": "INTERVENED"}
        chosen = request["retrievalConfiguration"]["vectorSearchConfiguration"].get("filter")
        held = self.held.get(key, [])
        found = [each for each in held if chosen is None or _lets(chosen, each["metadata"])]
        return {"retrievalResults": found, "guardrailAction": "NONE"}


def _lets(chosen: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    [(operator, operand)] = chosen.items()
    match operator:
        case "andAll":
            return all(_lets(each, metadata) for each in operand)
        case "orAll":
            return any(_lets(each, metadata) for each in operand)
        case "equals":
            return bool(metadata.get(operand["key"]) == operand["value"])
        case "listContains":
            listed = metadata.get(operand["key"], [])
            return isinstance(listed, list) and operand["value"] in listed
    raise AssertionError(f"no filter of ours has {operator}")
