"""The bucket operations of S3 Vectors."""

import json
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.identifiers import Arns, page
from bedrock_kb_simulator.rules import (
    VECTOR_BUCKET_GONE,
    VECTOR_BUCKET_NOT_EMPTY,
    VECTOR_BUCKET_TAKEN,
    VECTOR_POLICY,
    VECTOR_POLICY_GONE,
)
from bedrock_kb_simulator.store import Row, Store, moment
from bedrock_kb_simulator.tagging import Tags

_PAGE = 500


@dataclass(frozen=True, kw_only=True)
class VectorBuckets:
    store: Store
    clock: Clock
    arns: Arns
    tags: Tags

    def create(self, parameters: Parameters) -> Parameters:
        name = parameters["vectorBucketName"]
        with self.store.transaction():
            if self.store.row("SELECT 1 FROM vector_buckets WHERE name = ?", name):
                raise VECTOR_BUCKET_TAKEN.broken()
            created_at = self.clock.now().isoformat()
            self.store.insert("vector_buckets", {"name": name, "created_at": created_at})
            self.tags.put(self.arns.vector_bucket(name), parameters.get("tags"))
        return {"vectorBucketArn": self.arns.vector_bucket(name)}

    def get(self, parameters: Parameters) -> Parameters:
        row = self.row(parameters)
        return {
            "vectorBucket": {
                **self._summary(row),
                "encryptionConfiguration": {"sseType": "AES256"},
                "defaultIndexMode": row["default_mode"],
            }
        }

    def list(self, parameters: Parameters) -> Parameters:
        rows = self.store.rows("SELECT * FROM vector_buckets ORDER BY name")
        rows = [row for row in rows if row["name"].startswith(parameters.get("prefix") or "")]
        found, more = page(rows, parameters, lambda row: str(row["name"]), size=_PAGE)
        return {"vectorBuckets": [self._summary(row) for row in found], **more}

    def delete(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            name = self.row(parameters)["name"]
            if self.store.row("SELECT 1 FROM vector_indexes WHERE bucket = ?", name):
                raise VECTOR_BUCKET_NOT_EMPTY.broken()
            self.store.write("DELETE FROM vector_buckets WHERE name = ?", name)
            self.tags.forget(self.arns.vector_bucket(name))
        return {}

    def put_default_mode(self, parameters: Parameters) -> Parameters:
        """For the indexes that are made from now on: rule vector-bucket.default-mode."""
        with self.store.transaction():
            self.store.write(
                "UPDATE vector_buckets SET default_mode = ? WHERE name = ?",
                parameters["defaultIndexMode"],
                self.row(parameters)["name"],
            )
        return {}

    def put_policy(self, parameters: Parameters) -> Parameters:
        """In the place of the one before; kept as it was written: rule vector-bucket.policy."""
        _check_policy(parameters["policy"])
        return self._with_policy(parameters, parameters["policy"])

    def get_policy(self, parameters: Parameters) -> Parameters:
        policy = self.row(parameters)["policy"]
        if policy is None:
            raise VECTOR_POLICY_GONE.broken()
        return {"policy": policy}

    def delete_policy(self, parameters: Parameters) -> Parameters:
        return self._with_policy(parameters, None)

    def row(self, parameters: Parameters) -> Row:
        """The bucket that a request names or gives the ARN of."""
        arn = parameters.get("vectorBucketArn") or ""
        name = parameters.get("vectorBucketName") or arn.rpartition("/")[2]
        row = self.store.row("SELECT * FROM vector_buckets WHERE name = ?", name)
        if row is None:
            raise VECTOR_BUCKET_GONE.broken()
        return row

    def _with_policy(self, parameters: Parameters, policy: str | None) -> Parameters:
        with self.store.transaction():
            self.store.write(
                "UPDATE vector_buckets SET policy = ? WHERE name = ?",
                policy,
                self.row(parameters)["name"],
            )
        return {}

    def _summary(self, row: Row) -> dict[str, Any]:
        return {
            "vectorBucketName": row["name"],
            "vectorBucketArn": self.arns.vector_bucket(row["name"]),
            "creationTime": moment(row["created_at"]),
        }


def _check_policy(text: str) -> None:
    try:
        policy = json.loads(text)
    except ValueError:
        raise VECTOR_POLICY.broken() from None
    if not isinstance(policy, dict) or not policy.get("Statement"):
        raise VECTOR_POLICY.broken()
