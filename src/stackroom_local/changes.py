"""
Which records changed since the last look: the stream that DynamoDB keeps of a table's changes.

It is switched on by whoever looks first, so that nobody pays for it where nobody does. Reading it
costs what changed; a Query or a Scan costs everything that is there, with a filter too.
"""

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors

Key = tuple[str, str]  # catalog_id, sk

# What the stream answers to a reader that was away for too long [DynamoDB API reference:
# GetRecords], and a server that was started anew to one of an earlier stream.
_LOST = {"ExpiredIteratorException", "ResourceNotFoundException", "TrimmedDataAccessException"}


@dataclass
class Changes:
    dynamodb: Any
    streams: Any
    table: str
    _iterators: list[str] | None = field(default=None, init=False)

    def since_last_look(self) -> set[Key] | None:
        """None at first, and whenever changes may have been missed: then read everything."""
        if self._iterators is None:
            with store_errors():
                self._iterators = self._latest()
            return None
        try:
            with store_errors():
                return self._read(self._iterators)
        except ClientError as error:
            if code_of(error) not in _LOST:
                raise
            self._iterators = None
            return self.since_last_look()

    def _read(self, iterators: list[str]) -> set[Key] | None:
        changed: set[Key] = set()
        following: list[str] = []
        for iterator in iterators:
            position: str | None = iterator
            while position is not None:
                answer = self.streams.get_records(ShardIterator=position)
                changed |= {_key(each["dynamodb"]["Keys"]) for each in answer["Records"]}
                position = answer.get("NextShardIterator")
                if position is not None and not answer["Records"]:
                    following.append(position)
                    break
        if len(following) < len(iterators):  # a shard ended; others follow it
            self._iterators = self._latest()
            return None
        self._iterators = following
        return changed

    def _latest(self) -> list[str]:
        stream = self._stream()
        shards = self.streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]
        return [
            self.streams.get_shard_iterator(
                StreamArn=stream, ShardId=each["ShardId"], ShardIteratorType="LATEST"
            )["ShardIterator"]
            for each in shards
        ]

    def _stream(self) -> str:
        table = self.dynamodb.describe_table(TableName=self.table)["Table"]
        if not table.get("StreamSpecification", {}).get("StreamEnabled"):
            table = self.dynamodb.update_table(
                TableName=self.table,
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            )["TableDescription"]
        return str(table["LatestStreamArn"])


def _key(keys: dict[str, dict[str, str]]) -> Key:
    return keys["catalog_id"]["S"], keys["sk"]["S"]
