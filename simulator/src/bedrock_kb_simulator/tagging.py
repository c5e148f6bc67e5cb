"""TagResource, UntagResource and ListTagsForResource, which each service has for its own."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.dispatcher import Handler, Parameters
from bedrock_kb_simulator.store import Store

# What resources are tagged with, by their ARNs.

Pairs = Iterable[Mapping[str, str]]  # of `key` and `value`


@dataclass(frozen=True, kw_only=True)
class Tags:
    """`most` is the rule by which a service limits their number; what breaks it is refused."""

    store: Store
    most: rules.Rule

    def put(self, arn: str, tags: Mapping[str, str] | Pairs | None) -> None:
        """Add tags, or give new values: rule tags.changed; raises ServiceError."""
        added = by_key(tags or {})
        for key in added:
            if key.lower().startswith("aws:"):
                raise rules.TAG_RESERVED.broken(key=key)
        with self.store.transaction():
            if len({**self.of(arn), **added}) > self.most.limit:
                raise self.most.broken()
            for key, value in added.items():
                self.store.insert("tags", {"arn": arn, "key": key, "value": value})

    def of(self, arn: str) -> dict[str, str]:
        rows = self.store.rows("SELECT key, value FROM tags WHERE arn = ? ORDER BY key", arn)
        return {row["key"]: row["value"] for row in rows}

    def remove(self, arn: str, keys: Iterable[str]) -> None:
        with self.store.transaction():
            for key in keys:
                self.store.write("DELETE FROM tags WHERE arn = ? AND key = ?", arn, key)

    def forget(self, arn: str) -> None:
        """With the resource, of which another may have the name later on."""
        self.store.write("DELETE FROM tags WHERE arn = ?", arn)


def by_key(tags: Mapping[str, str] | Pairs) -> dict[str, str]:
    """Services write them as a map or as a list of pairs."""
    if isinstance(tags, Mapping):
        return dict(tags)
    return {tag["key"]: tag["value"] for tag in tags}


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """
    Of one service. `find` raises ServiceError for an ARN that no resource of it has; `arn` is what
    requests call it; `pairs` is whether tags are a list of them, and a map otherwise.
    """

    tags: Tags
    find: Callable[[str], None]
    arn: str = "resourceArn"
    pairs: bool = False

    def handlers(self, service: str) -> dict[str, Handler]:
        return {
            f"{service}.TagResource": self._tag,
            f"{service}.UntagResource": self._untag,
            f"{service}.ListTagsForResource": self._list,
        }

    def _tag(self, parameters: Parameters) -> Parameters:
        self.tags.put(self._found(parameters), parameters["tags"])
        return {}

    def _untag(self, parameters: Parameters) -> Parameters:
        self.tags.remove(self._found(parameters), parameters["tagKeys"])
        return {}

    def _list(self, parameters: Parameters) -> Parameters:
        tags: Any = self.tags.of(self._found(parameters))
        if self.pairs:
            tags = [{"key": key, "value": value} for key, value in tags.items()]
        return {"tags": tags}

    def _found(self, parameters: Parameters) -> str:
        arn = str(parameters[self.arn])
        self.find(arn)
        return arn
