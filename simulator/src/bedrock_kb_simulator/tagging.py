"""The tags of resources, and ListTagsForResource of each service."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.dispatcher import Handler, Parameters
from bedrock_kb_simulator.store import Store

Pairs = Iterable[Mapping[str, str]]  # with `key` and `value`


@dataclass(frozen=True, kw_only=True)
class Tags:
    """The tags of resources, by ARN."""

    store: Store

    def put(self, arn: str, tags: Mapping[str, str] | Pairs | None) -> None:
        """Add a new resource's tags: rule tags.kept. Raises ServiceError."""
        added = by_key(tags or {})
        for key in added:
            if key.lower().startswith("aws:"):
                raise rules.TAG_RESERVED.broken(key=key)
        with self.store.transaction():
            for key, value in added.items():
                self.store.insert("tags", {"arn": arn, "key": key, "value": value})

    def of(self, arn: str) -> dict[str, str]:
        rows = self.store.rows("SELECT key, value FROM tags WHERE arn = ? ORDER BY key", arn)
        return {row["key"]: row["value"] for row in rows}

    def forget(self, arn: str) -> None:
        """Remove all tags of a deleted resource: another may get its name later."""
        self.store.write("DELETE FROM tags WHERE arn = ?", arn)


def by_key(tags: Mapping[str, str] | Pairs) -> dict[str, str]:
    """Return tags by key; services write them as a map or a list of pairs."""
    if isinstance(tags, Mapping):
        return dict(tags)
    return {tag["key"]: tag["value"] for tag in tags}


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """
    ListTagsForResource of one service.

    `find` raises ServiceError unless a resource has the ARN; `arn` is the name of its member in
    requests; with `pairs`, tags are a list of pairs rather than a map.
    """

    tags: Tags
    find: Callable[[str], None]
    arn: str = "resourceArn"
    pairs: bool = False

    def handlers(self, service: str) -> dict[str, Handler]:
        return {f"{service}.ListTagsForResource": self._list}

    def _list(self, parameters: Parameters) -> Parameters:
        arn = str(parameters[self.arn])
        self.find(arn)
        tags: Any = self.tags.of(arn)
        if self.pairs:
            tags = [{"key": key, "value": value} for key, value in tags.items()]
        return {"tags": tags}
