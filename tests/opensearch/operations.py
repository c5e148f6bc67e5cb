"""Operations of a collection, by method and path: a part of OpenSearch's API."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.opensearch.indexes import Indexes
from tests.opensearch.queries import Dsl, searched
from tests.opensearch.rules import Refused, malformed

Answers = Callable[[str, str, bytes], Any]  # of a collection's id, an index and a body


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`name` for faults; `permission` of a data access policy; what it answers."""

    name: str
    permission: str
    answers: Answers


class Operations:
    """Each answers what it is asked of a collection's index; raises Refused."""

    def __init__(self) -> None:
        self._indexes = Indexes()
        search = _read("Search", self._search)
        several = _read("MultiSearch", self._multi_search)
        mapping = Operation(
            name="GetMapping", permission="aoss:DescribeIndex", answers=self._mapping
        )
        self._known: Mapping[tuple[str, str | None], Operation] = {
            ("PUT", None): Operation(
                name="CreateIndex", permission="aoss:CreateIndex", answers=self._create
            ),
            ("GET", "_mapping"): mapping,
            ("HEAD", None): mapping,
            ("GET", "_search"): search,
            ("POST", "_search"): search,
            ("GET", "_msearch"): several,
            ("POST", "_msearch"): several,
            ("POST", "_doc"): _written("IndexDocument", self._add),
            ("POST", "_bulk"): _written("Bulk", self._bulk),
        }

    def of(self, method: str, rest: str | None) -> Operation | None:
        """Return the operation by the path after the index, or None."""
        return self._known.get((method, rest))

    def _create(self, collection: str, index: str, body: bytes) -> Any:
        self._indexes.create(collection, index, _object(body) if body else {})
        return {"acknowledged": True, "shards_acknowledged": True, "index": index}

    def _mapping(self, collection: str, index: str, body: bytes) -> Any:
        return {index: {"mappings": self._indexes.of(collection, index).mappings}}

    def _search(self, collection: str, index: str, body: bytes) -> Any:
        asked = _object(body) if body else {}
        return searched(asked, index, self._dsl(collection, index))

    def _multi_search(self, collection: str, index: str, body: bytes) -> Any:
        lines = _lines(body)
        return {
            "took": 1,
            "responses": [
                self._one_of_several(collection, head.get("index", index), asked)
                for head, asked in zip(lines[::2], lines[1::2], strict=True)
            ],
        }

    def _one_of_several(self, collection: str, index: str, asked: Any) -> Any:
        try:
            answered = searched(asked, index, self._dsl(collection, index))
            return {**answered, "status": 200}
        except Refused as error:
            return error.body

    def _dsl(self, collection: str, index: str) -> Dsl:
        held = self._indexes.of(collection, index)
        return Dsl(mappings=held.mappings, documents=held.documents)

    def _add(self, collection: str, index: str, body: bytes) -> Any:
        key = self._indexes.add(collection, index, _object(body))
        return {"_index": index, "_id": key, "result": "created"}

    def _bulk(self, collection: str, index: str, body: bytes) -> Any:
        """Run `index` actions without an id: a collection for vectors assigns its own."""
        lines = _lines(body)
        items = []
        for action, source in zip(lines[::2], lines[1::2], strict=True):
            if action not in ({"index": {}}, {"index": {"_index": index}}):
                raise malformed("bulk")
            try:
                key = self._indexes.add(collection, index, source)
                items.append({"index": {"_index": index, "_id": key, "status": 201}})
            except Refused as error:
                items.append({"index": {"_index": index, **error.body}})
        return {
            "took": 1,
            "errors": any("error" in each["index"] for each in items),
            "items": items,
        }


def _read(name: str, answers: Answers) -> Operation:
    return Operation(name=name, permission="aoss:ReadDocument", answers=answers)


def _written(name: str, answers: Answers) -> Operation:
    return Operation(name=name, permission="aoss:WriteDocument", answers=answers)


def _object(body: bytes) -> dict[str, Any]:
    [found] = _lines(body) or [None]
    if not isinstance(found, dict):
        raise malformed("body")
    return found


def _lines(body: bytes) -> list[Any]:
    try:
        return [json.loads(line) for line in body.splitlines() if line.strip()]
    except ValueError:
        raise malformed("body") from None
