"""A collection of OpenSearch Serverless in a simulator, and real clients of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import uuid4

import boto3
from botocore.credentials import Credentials
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth

from bedrock_kb_simulator.opensearch.signatures import Principal

REGION = "us-east-1"
READER = "arn:aws:iam::000000000000:role/reader"
WRITER = "arn:aws:iam::000000000000:role/writer"
STRANGER = "arn:aws:iam::000000000000:role/stranger"
READS = ("aoss:DescribeIndex", "aoss:ReadDocument")
WRITES = ("aoss:CreateIndex", "aoss:DeleteIndex", "aoss:WriteDocument")
# Each principal's access key is the end of its name, so that tests can tell them apart.
PRINCIPALS = {
    "reader": Principal(arn=READER, secret_key="of-reader"),
    "writer": Principal(arn=WRITER, secret_key="of-writer"),
    "stranger": Principal(arn=STRANGER, secret_key="of-stranger"),
    "test": Principal(arn=READER, secret_key="test"),
}


def credentials(key: str) -> Credentials:
    return Credentials(key, PRINCIPALS[key].secret_key)


@dataclass(frozen=True)
class Collection:
    simulator: str
    id: str
    name: str
    _clients: list[OpenSearch] = field(default_factory=list)

    def close(self) -> None:
        for each in self._clients:
            each.close()

    @classmethod
    def at(cls, simulator: str) -> "Collection":
        """A new one, in which the reader may read any index and the writer write it."""
        name = f"c{uuid4().hex[:20]}"
        made = _control(simulator).create_collection(name=name, type="VECTORSEARCH")
        collection = cls(simulator, made["createCollectionDetail"]["id"], name)
        collection.allow(READER, READS)
        collection.allow(WRITER, (*READS, *WRITES))
        return collection

    @property
    def endpoint(self) -> str:
        return f"{self.simulator}/aoss/{self.id}"

    def allow(self, principal: str, permissions: Sequence[str], *, index: str = "*") -> str:
        rule = {
            "ResourceType": "index",
            "Resource": [f"index/{self.name}/{index}"],
            "Permission": list(permissions),
        }
        return self.put_policy(json.dumps([{"Rules": [rule], "Principal": [principal]}]))

    def put_policy(self, policy: str) -> str:
        name = f"p{uuid4().hex[:20]}"
        _control(self.simulator).create_access_policy(type="data", name=name, policy=policy)
        return name

    def drop_policy(self, name: str) -> None:
        _control(self.simulator).delete_access_policy(type="data", name=name)

    def client(self, key: str = "reader", *, service: str = "aoss", **options: Any) -> OpenSearch:
        """Without patience: a test wants to see what is answered, not have it asked again."""
        signed = Urllib3AWSV4SignerAuth(credentials(key), REGION, service)
        client = OpenSearch(self.endpoint, **{"http_auth": signed, "max_retries": 0, **options})
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


@cache
def _control(simulator: str) -> Any:
    return boto3.client(
        "opensearchserverless",
        endpoint_url=simulator,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
