"""The vector bucket and vector index operations of S3 Vectors."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.identifiers import Arns, page
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment
from bedrock_kb_simulator.tagging import Tags
from bedrock_kb_simulator.text_search import TextSearch, TextSearches

# The bucket operations of S3 Vectors.


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
                raise rules.VECTOR_BUCKET_TAKEN.broken()
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
                "defaultIndexMode": _MODE,
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
                raise rules.VECTOR_BUCKET_NOT_EMPTY.broken()
            self.store.write("DELETE FROM vector_buckets WHERE name = ?", name)
            self.tags.forget(self.arns.vector_bucket(name))
        return {}

    def put_default_mode(self, parameters: Parameters) -> Parameters:
        _refuse_classic(parameters["defaultIndexMode"])
        self.row(parameters)
        return {}

    def put_policy(self, parameters: Parameters) -> Parameters:
        """Replace the policy; its text is kept as written: rule vector-bucket.policy."""
        _check_policy(parameters["policy"])
        return self._set_policy(parameters, parameters["policy"])

    def get_policy(self, parameters: Parameters) -> Parameters:
        policy = self.row(parameters)["policy"]
        if policy is None:
            raise rules.VECTOR_POLICY_GONE.broken()
        return {"policy": policy}

    def delete_policy(self, parameters: Parameters) -> Parameters:
        return self._set_policy(parameters, None)

    def row(self, parameters: Parameters) -> Row:
        """Return the bucket that a request specifies by name or ARN."""
        arn = parameters.get("vectorBucketArn") or ""
        name = parameters.get("vectorBucketName") or arn.rpartition("/")[2]
        row = self.store.row("SELECT * FROM vector_buckets WHERE name = ?", name)
        if row is None:
            raise rules.VECTOR_BUCKET_GONE.broken()
        return row

    def _set_policy(self, parameters: Parameters, policy: str | None) -> Parameters:
        with self.store.transaction():
            name = self.row(parameters)["name"]
            self.store.update("vector_buckets", {"policy": policy}, name=name)
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
        raise rules.VECTOR_POLICY.broken() from None
    if not isinstance(policy, dict) or not policy.get("Statement"):
        raise rules.VECTOR_POLICY.broken()


_PAGE = 500
_KEPT = ("dataType", "dimension", "distanceMetric", "metadataConfiguration")
_MODE = "ENHANCED"  # the only one that is simulated
_CONFIGURATIONS = "textSearchConfigurations"


@dataclass(frozen=True, kw_only=True)
class VectorIndexes:
    buckets: VectorBuckets
    searches: TextSearches
    forget_index: Callable[[str], None]

    def create(self, parameters: Parameters) -> Parameters:
        store, name = self.buckets.store, parameters["indexName"]
        with store.transaction():
            bucket = self.buckets.row(parameters)
            arn = self.buckets.arns.index(bucket["name"], name)
            if store.row("SELECT 1 FROM vector_indexes WHERE arn = ?", arn):
                raise rules.INDEX_TAKEN.broken()
            body = {member: parameters[member] for member in _KEPT if parameters.get(member)}
            metadata = dict(body.pop("metadataConfiguration", None) or {})
            configurations = metadata.pop(_CONFIGURATIONS, None) or []
            row = {
                "arn": arn,
                "bucket": bucket["name"],
                "name": name,
                "body": dumped(
                    {
                        **body,
                        **({"metadataConfiguration": metadata} if metadata else {}),
                        "indexMode": _MODE,
                    }
                ),
                "created_at": self.buckets.clock.now().isoformat(),
            }
            store.insert("vector_indexes", row)
            if configurations:
                self._add(self.row(parameters), configurations)
            self.buckets.tags.put(arn, parameters.get("tags"))
        return {"indexArn": arn}

    def get(self, parameters: Parameters) -> Parameters:
        row = self.row(parameters)
        body = loaded(row["body"])
        metadata = body.pop("metadataConfiguration", None) or {}
        searched = [_description(search) for search in self.searches.of(row["arn"]).values()]
        if searched:
            metadata = {**metadata, _CONFIGURATIONS: searched}
        return {
            "index": {
                **self._summary(row),
                **body,
                **({"metadataConfiguration": metadata} if metadata else {}),
                "encryptionConfiguration": {"sseType": "AES256"},
            }
        }

    def find(self, arn: str) -> None:
        """Raise NotFoundException unless an index or vector bucket has this ARN."""
        if "/index/" in arn:
            self.row({"indexArn": arn})
            return
        bucket = self.buckets.row({"vectorBucketArn": arn})
        if self.buckets.arns.vector_bucket(bucket["name"]) != arn:
            raise rules.VECTOR_BUCKET_GONE.broken()

    def list(self, parameters: Parameters) -> Parameters:
        bucket = self.buckets.row(parameters)["name"]
        rows = self.buckets.store.rows(
            "SELECT * FROM vector_indexes WHERE bucket = ? ORDER BY name", bucket
        )
        rows = [row for row in rows if row["name"].startswith(parameters.get("prefix") or "")]
        found, more = page(rows, parameters, lambda row: str(row["name"]), size=_PAGE)
        return {"indexes": [self._summary(row) for row in found], **more}

    def delete(self, parameters: Parameters) -> Parameters:
        with self.buckets.store.transaction():
            arn = self.row(parameters)["arn"]
            self.buckets.store.write("DELETE FROM vector_indexes WHERE arn = ?", arn)
            self.searches.forget_index(arn)
            self.forget_index(arn)
            self.buckets.tags.forget(arn)
        return {}

    def update_mode(self, parameters: Parameters) -> Parameters:
        _refuse_classic(parameters["indexMode"])
        store = self.buckets.store
        with store.transaction():
            row = self.row(parameters)
            body = {**loaded(row["body"]), "indexMode": _MODE}
            store.update("vector_indexes", {"body": dumped(body)}, arn=row["arn"])
        return {}

    def update_metadata_configuration(self, parameters: Parameters) -> Parameters:
        """Make keys searchable, or stop; existing vectors are added after a while."""
        added, deleted = (
            (parameters.get(change) or {}).get(_CONFIGURATIONS) or []
            for change in ("add", "delete")
        )
        if bool(added) == bool(deleted):
            raise rules.TEXT_SEARCH_CHANGE.broken()
        with self.buckets.store.transaction():
            row = self.row(parameters)
            if not all(search.active for search in self.searches.of(row["arn"]).values()):
                raise rules.TEXT_SEARCH_BUILDING.broken()
            if added:
                self._add(row, added)
            self._remove(row, [each["metadataKey"] for each in deleted])
        return {"indexArn": row["arn"]}

    def row(self, parameters: Parameters) -> Row:
        """Return the index that a request specifies by name and bucket, or by ARN."""
        arn = parameters.get("indexArn")
        if not arn:
            if not (parameters.get("vectorBucketName") and parameters.get("indexName")):
                raise rules.INDEX_UNNAMED.broken()
            bucket = self.buckets.row(parameters)["name"]
            arn = self.buckets.arns.index(bucket, parameters.get("indexName") or "")
        row = self.buckets.store.row("SELECT * FROM vector_indexes WHERE arn = ?", arn)
        if row is None:
            raise rules.INDEX_GONE.broken()
        return row

    def _add(self, row: Row, configurations: Sequence[dict[str, str]]) -> None:
        for each in configurations:
            if each["metadataKey"] in self.searches.of(row["arn"]):
                raise rules.TEXT_SEARCH_TAKEN.broken(key=each["metadataKey"])
            self.searches.add(row["arn"], each["metadataKey"], each.get("language"))

    def _remove(self, row: Row, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in self.searches.of(row["arn"]):
                raise rules.TEXT_SEARCH_ABSENT.broken(key=key)
            self.searches.remove(row["arn"], key)

    def _summary(self, row: Row) -> dict[str, Any]:
        return {
            "vectorBucketName": row["bucket"],
            "indexName": row["name"],
            "indexArn": row["arn"],
            "creationTime": moment(row["created_at"]),
        }


def _refuse_classic(mode: str) -> None:
    if mode != _MODE:
        raise rules.NOT_SIMULATED.broken(what=f"vector indexes in the mode {mode}")


def _description(search: TextSearch) -> dict[str, str]:
    language = {"language": search.language} if search.language else {}
    status = "ACTIVE" if search.active else "BUILDING"
    return {"metadataKey": search.metadata_key, **language, "status": status}
