"""A collection of the stand-in for OpenSearch Serverless, and real clients of it."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError
from uuid import uuid4

from botocore.credentials import Credentials
from opensearchpy import OpenSearch as Client
from opensearchpy import Urllib3AWSV4SignerAuth

from bedrock_kb_simulator.orders import Answer
from tests.opensearch.stand_in import PREFIX, REGION, Fault, OpenSearch, Principal

READER = "arn:aws:iam::000000000000:role/reader"
WRITER = "arn:aws:iam::000000000000:role/writer"
STRANGER = "arn:aws:iam::000000000000:role/stranger"
READS = ("aoss:DescribeIndex", "aoss:ReadDocument")
WRITES = ("aoss:CreateIndex", "aoss:WriteDocument")
# Each principal's access key is the end of its name, so that tests can tell them apart.
PRINCIPALS = {
    "reader": Principal(arn=READER, secret_key="of-reader"),
    "writer": Principal(arn=WRITER, secret_key="of-writer"),
    "stranger": Principal(arn=STRANGER, secret_key="of-stranger"),
    "test": Principal(arn=READER, secret_key="test"),
}


def mounted(
    principals: Mapping[str, Principal] = PRINCIPALS, faults: list[Fault] | None = None
) -> Mapping[str, Answer]:
    """For a simulator's configuration."""
    stand_in = OpenSearch(principals=principals, faults=[] if faults is None else faults)
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
        collection._order({"collection": collection.name})
        collection.allow(READER, READS)
        collection.allow(WRITER, (*READS, *WRITES))
        return collection

    @property
    def endpoint(self) -> str:
        return f"{self.simulator}/aoss/{self.name}"

    def allow(self, principal: str, permissions: Sequence[str], *, index: str = "*") -> None:
        rule = {
            "ResourceType": "index",
            "Resource": [f"index/{self.name}/{index}"],
            "Permission": list(permissions),
        }
        self.put_policy(json.dumps([{"Rules": [rule], "Principal": [principal]}]))

    def put_policy(self, policy: str) -> None:
        """Raises ValueError for what is none."""
        self._order({"policy": f"p{uuid4().hex[:20]}", "says": policy})

    def client(self, key: str = "reader", *, service: str = "aoss", **options: Any) -> Client:
        """Without patience: a test wants to see what is answered, not have it asked again."""
        signed = Urllib3AWSV4SignerAuth(credentials(key), REGION, service)
        client = Client(self.endpoint, **{"http_auth": signed, "max_retries": 0, **options})
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

    def _order(self, order: Mapping[str, str]) -> None:
        request = urllib.request.Request(self.simulator + PREFIX, json.dumps(order).encode())
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except HTTPError as error:
            with error:
                raise ValueError(error.read()) from None
