"""Which objects of a bucket are a data source's documents, and which of those that vanished go."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import connectors
from bedrock_kb_simulator.connectors import Connector
from bedrock_kb_simulator.objects import Objects, S3Object


@dataclass(frozen=True, kw_only=True)
class Source:
    """The bucket of an S3 data source, the prefixes under which its documents lie, and a filter."""

    bucket: str
    prefixes: Sequence[str] = ("",)
    connector: Connector | None = None

    @staticmethod
    def configured(configuration: dict[str, Any]) -> "Source":
        """From a dataSourceConfiguration; outside of connectors the model allows one prefix."""
        if configuration["type"] == connectors.TYPE:
            connector = Connector.configured(configuration)
            return Source(
                bucket=connector.bucket, prefixes=connector.inclusion_prefixes, connector=connector
            )
        s3 = configuration["s3Configuration"]
        prefixes = s3.get("inclusionPrefixes") or [""]
        return Source(bucket=s3["bucketArn"].rpartition(":")[2], prefixes=prefixes[:1])

    def objects(self, objects: Objects) -> Iterator[S3Object]:
        """All under the prefixes, each once, sidecars too."""
        seen: set[str] = set()
        for prefix in self.prefixes:
            for found in objects.under(self.bucket, prefix):
                if found.key not in seen:
                    seen.add(found.key)
                    yield found

    def takes(self, found: S3Object) -> bool:
        """Whether an object under a prefix is a document."""
        connector = self.connector
        return connector is None or (
            connector.takes(found.key) and found.size <= connector.most_bytes
        )

    def deletable(self, vanished: list[str], *, of: int) -> list[str]:
        """All that vanished of so many, or nothing: rule managed.deletion-protection."""
        most = None if self.connector is None else self.connector.most_deleted
        return [] if most is not None and len(vanished) > most * of else vanished
