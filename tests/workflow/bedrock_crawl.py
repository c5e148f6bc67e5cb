"""What the scripted Bedrock's jobs do with a bucket, and say of its documents afterwards."""

import json
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.workflow.bedrock_records import Answer, Source


@dataclass
class Crawler:
    """`verdicts` are what becomes of files, by their names; where there are none: INDEXED."""

    s3: Any
    bucket: str
    verdicts: dict[str, deque[str]]

    def crawl(self, source: Source) -> None:
        """As a job does: what is new or changed is taken up, what is gone is forgotten."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=source.prefix)
        etags = {each["Key"]: each["ETag"] for each in listed.get("Contents", [])}
        files = [key for key in etags if not key.endswith(".metadata.json")]
        found = {key: (etags[key], etags.get(f"{key}.metadata.json", "")) for key in files}
        for key, states in found.items():
            if source.etags.get(key) != states or self.verdicts[_name(key)]:
                source.documents[self._uri(key)] = {"updatedAt": datetime.now(UTC)}
                self._settle(source, key)
        for key in source.etags.keys() - found.keys():
            source.documents.pop(self._uri(key), None)
            source.passages.pop(self._uri(key), None)
        source.etags = found

    def look(self, source: Source, uri: str) -> Answer:
        document = source.documents.get(uri, {"status": "NOT_FOUND"})
        answer = {"identifier": {"dataSourceType": "S3", "s3": {"uri": uri}}, **document}
        if document["status"] == "IN_PROGRESS":  # decided by the next look
            self._settle(source, uri.removeprefix(self._uri("")))
        return answer

    def _settle(self, source: Source, key: str) -> None:
        verdicts = self.verdicts[_name(key)]
        status = verdicts.popleft() if verdicts else "INDEXED"
        source.documents[self._uri(key)]["status"] = status
        if status == "INDEXED":
            sidecar = self.s3.get_object(Bucket=self.bucket, Key=f"{key}.metadata.json")
            attributes = json.loads(sidecar["Body"].read())["metadataAttributes"]
            source.passages[self._uri(key)] = attributes

    def _uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def _name(key: str) -> str:
    return key.rpartition("/")[2]
