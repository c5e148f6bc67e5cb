"""
What tenants have had lately of a shared rate, in the control table.

    item      pk       sk
    ledger    TURNS    <operation>    version; told, the rest of it as JSON; expires_at (TTL)

    read it     GetItem, consistent
    write it    PutItem if its version is still the one that was read

While nothing is throttled nobody reads or writes it. While something is, a question takes one read
and one write of 1-3 KB, $0.0000015 at $0.625 for a million write units, and twice that if it waits;
one that is sent away takes the read alone.
https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from botocore.exceptions import ClientError
from pydantic import TypeAdapter

from stackroom.aws.dynamodb.items import to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import code_of
from stackroom.errors import RecordChanged, ServiceRefused
from stackroom.search.rate_limiter import Turns

_TURNS = TypeAdapter(Turns)
_KEPT = 3600  # seconds; after a few of them nothing in it counts any more


@dataclass(frozen=True, kw_only=True)
class DynamoTurnBook(DynamoTable):
    """Of what AWS calls `operation`. The client is one that gives up soon."""

    operation: str

    def read(self) -> Turns:
        with _errors():
            item = self._get(to_item(self._key))
        if item is None:
            return Turns()
        try:
            told = _TURNS.validate_json(item["told"])
        except ValueError:  # as another version of this may have written it: begun anew
            told = Turns()
        return replace(told, version=int(item["version"]))

    def write(self, turns: Turns) -> Turns:
        written = replace(turns, version=turns.version + 1)
        told = _TURNS.dump_json(replace(written, version=0), exclude_defaults=True).decode()
        values = {"version": written.version, "told": told, "expires_at": int(turns.at) + _KEPT}
        with _errors():
            is_kept = self._put_next(to_item({**self._key, **values}), version=turns.version)
        if not is_kept:
            raise RecordChanged(f"the turns of {self.operation}")
        return written

    @property
    def _key(self) -> dict[str, str]:
        return {"pk": "TURNS", "sk": self.operation}


@contextmanager
def _errors() -> Iterator[None]:
    """Whatever DynamoDB has against it, a question is none the worse for it."""
    try:
        yield
    except ClientError as error:
        raise ServiceRefused(error.operation_name, code_of(error)) from error
