"""The bucket and index operations of S3 Vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.identifiers import Arns, page
from stackroom_local.simulator.rules import (
    INDEX_GONE,
    INDEX_TAKEN,
    VECTOR_BUCKET_GONE,
    VECTOR_BUCKET_NOT_EMPTY,
    VECTOR_BUCKET_TAKEN,
)
from stackroom_local.simulator.store import Row, Store, dumped, loaded, moment

_PAGE = 500


@dataclass(frozen=True, kw_only=True)
class VectorBuckets:
    store: Store
    clock: Clock
    arns: Arns
    forget_index: Callable[[str], None]

    def create_bucket(self, parameters: Parameters) -> Parameters:
        name = parameters["vectorBucketName"]
        with self.store.transaction():
            if self.store.row("SELECT 1 FROM vector_buckets WHERE name = ?", name):
                raise VECTOR_BUCKET_TAKEN.broken()
            created_at = self.clock.now().isoformat()
            self.store.insert("vector_buckets", {"name": name, "created_at": created_at})
        return {"vectorBucketArn": self.arns.vector_bucket(name)}

    def get_bucket(self, parameters: Parameters) -> Parameters:
        row = self._bucket(parameters)
        return {
            "vectorBucket": {
                **self._bucket_summary(row),
                "encryptionConfiguration": {"sseType": "AES256"},
                "defaultIndexMode": "ENHANCED",
            }
        }

    def list_buckets(self, parameters: Parameters) -> Parameters:
        rows = self.store.rows("SELECT * FROM vector_buckets ORDER BY name")
        rows = [row for row in rows if row["name"].startswith(parameters.get("prefix") or "")]
        found, more = page(rows, parameters, lambda row: str(row["name"]), size=_PAGE)
        return {"vectorBuckets": [self._bucket_summary(row) for row in found], **more}

    def delete_bucket(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            name = self._bucket(parameters)["name"]
            if self.store.row("SELECT 1 FROM vector_indexes WHERE bucket = ?", name):
                raise VECTOR_BUCKET_NOT_EMPTY.broken()
            self.store.write("DELETE FROM vector_buckets WHERE name = ?", name)
        return {}

    def create_index(self, parameters: Parameters) -> Parameters:
        name = parameters["indexName"]
        with self.store.transaction():
            bucket = self._bucket(parameters)["name"]
            arn = self.arns.index(bucket, name)
            if self.store.row("SELECT 1 FROM vector_indexes WHERE arn = ?", arn):
                raise INDEX_TAKEN.broken()
            kept = ("dataType", "dimension", "distanceMetric", "metadataConfiguration")
            body = {member: parameters[member] for member in kept if parameters.get(member)}
            index = {"arn": arn, "bucket": bucket, "name": name, "body": dumped(body)}
            now = self.clock.now().isoformat()
            self.store.insert("vector_indexes", {**index, "created_at": now})
        return {"indexArn": arn}

    def get_index(self, parameters: Parameters) -> Parameters:
        row = self._index(parameters)
        body = {"indexMode": "ENHANCED", "encryptionConfiguration": {"sseType": "AES256"}}
        return {"index": {**self._index_summary(row), **body, **loaded(row["body"])}}

    def list_indexes(self, parameters: Parameters) -> Parameters:
        bucket = self._bucket(parameters)["name"]
        rows = self.store.rows(
            "SELECT * FROM vector_indexes WHERE bucket = ? ORDER BY name", bucket
        )
        rows = [row for row in rows if row["name"].startswith(parameters.get("prefix") or "")]
        found, more = page(rows, parameters, lambda row: str(row["name"]), size=_PAGE)
        return {"indexes": [self._index_summary(row) for row in found], **more}

    def delete_index(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            arn = self._index(parameters)["arn"]
            self.store.write("DELETE FROM vector_indexes WHERE arn = ?", arn)
            self.forget_index(arn)
        return {}

    def _bucket(self, parameters: Parameters) -> Row:
        name = parameters.get("vectorBucketName") or _last(parameters.get("vectorBucketArn"))
        row = self.store.row("SELECT * FROM vector_buckets WHERE name = ?", name)
        if row is None:
            raise VECTOR_BUCKET_GONE.broken()
        return row

    def _index(self, parameters: Parameters) -> Row:
        arn = parameters.get("indexArn")
        if not arn:
            bucket = parameters.get("vectorBucketName") or ""
            arn = self.arns.index(bucket, parameters.get("indexName") or "")
        row = self.store.row("SELECT * FROM vector_indexes WHERE arn = ?", arn)
        if row is None:
            raise INDEX_GONE.broken()
        return row

    def _bucket_summary(self, row: Row) -> dict[str, Any]:
        return {
            "vectorBucketName": row["name"],
            "vectorBucketArn": self.arns.vector_bucket(row["name"]),
            "creationTime": moment(row["created_at"]),
        }

    def _index_summary(self, row: Row) -> dict[str, Any]:
        return {
            "vectorBucketName": row["bucket"],
            "indexName": row["name"],
            "indexArn": row["arn"],
            "creationTime": moment(row["created_at"]),
        }


def _last(arn: str | None) -> str:
    return (arn or "").rpartition("/")[2]
