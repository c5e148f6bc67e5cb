"""A collection of the stand-in for OpenSearch Serverless, and real clients of it."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from botocore.credentials import Credentials
from opensearchpy import OpenSearch as Client
from opensearchpy import Urllib3AWSV4SignerAuth

from bedrock_kb_simulator.orders import Answer
from tests.opensearch.stand_in import PREFIX, REGION, Fault, OpenSearch, Principal

READS = frozenset({"aoss:DescribeIndex", "aoss:ReadDocument"})
WRITES = READS | {"aoss:CreateIndex", "aoss:WriteDocument"}
PRINCIPALS = {  # by access key
    "reader": Principal(secret_key="of-reader", permissions=READS),
    "writer": Principal(secret_key="of-writer", permissions=WRITES),
    "stranger": Principal(secret_key="of-stranger"),
    "test": Principal(secret_key="test", permissions=READS),
}


def mounted(faults: list[Fault] | None = None) -> Mapping[str, Answer]:
    """For a simulator's configuration."""
    stand_in = OpenSearch(principals=PRINCIPALS, faults=[] if faults is None else faults)
    return {PREFIX: stand_in.answer}


def credentials(key: str) -> Credentials:
    return Credentials(key, PRINCIPALS[key].secret_key)


@dataclass(frozen=True)
class Collection:
    """At a simulator that has the stand-in mounted."""

    simulator: str
    name: str
    _clients: list[Client] = field(default_factory=list)

    def close(self) -> None:
        for each in self._clients:
            each.close()

    @classmethod
    def at(cls, simulator: str) -> "Collection":
        """A new one, in which the reader may read any index and the writer write it."""
        collection = cls(simulator, f"c{uuid4().hex[:20]}")
        order = json.dumps({"collection": collection.name}).encode()
        request = urllib.request.Request(simulator + PREFIX, order)
        urllib.request.urlopen(request, timeout=60).close()
        return collection

    @property
    def endpoint(self) -> str:
        return f"{self.simulator}/aoss/{self.name}"

    def client(self, key: str) -> Client:
        """Without patience: a test wants to see what is answered, not have it asked again."""
        signed = Urllib3AWSV4SignerAuth(credentials(key), REGION, "aoss")
        client = Client(self.endpoint, http_auth=signed, max_retries=0)
        self._clients.append(client)
        return client

    def fill(
        self, index: str, body: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]
    ) -> None:
        writer = self.client("writer")
        writer.indices.create(index=index, body=dict(body))
        lines: list[Mapping[str, Any]] = []
        for each in documents:
            lines += [{"index": {}}, each]
        if lines:
            answered = writer.bulk(index=index, body=lines)
            assert not answered["errors"], answered
