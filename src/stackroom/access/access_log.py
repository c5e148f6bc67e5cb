"""
One log line for each call: who used which tool on what, when and with what outcome. No text.

`infra/access_queries.py` queries these fields by their names.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

from stackroom.access.identity import ToolCall
from stackroom.access.tool import is_plain

EVENT = "catalog accessed"
SUCCESS = "success"
UNKNOWN = "unknown"  # the tool of a call that doesn't tell, or names none of the function's
# The tools' error codes for faults that are not the call's, as each of them spells it.
FAULTS = frozenset({"UNAVAILABLE", "RetrievalFailed"})

_LENGTH = 100  # characters of an id in an argument that are kept
_SHOWN_LENGTH = 1_200  # and of a document that was shown: an S3 URI has room in it
_SHOWN = 20  # documents; no tool shows passages of more


@dataclass(frozen=True, kw_only=True)
class Access:
    """
    The record of one call. `outcome` is SUCCESS or the error that the caller received.

    `catalog_id` and `document_id` are what the caller named, and may not exist. `document_ids` are
    the documents whose text or link the answer contains, as `document_of` returns them, with `%20`
    for a space.
    """

    tool: str
    outcome: str
    latency_ms: int
    user_id: str | None = None
    session_id: str | None = None
    catalog_id: str | None = None
    document_id: str | None = None
    document_ids: tuple[str, ...] = ()

    @property
    def is_fault(self) -> bool:
        """True if the call failed for a reason of ours."""
        return self.outcome in FAULTS

    def fields(self) -> dict[str, object]:
        """
        The fields of the log line. Documents are one text, because Logs Insights turns a list into
        a field for each member.
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_AnalyzeLogData-discoverable-fields.html
        """
        return {**asdict(self), "document_ids": " ".join(self.document_ids)}


AccessLog = Callable[[Access], None]


class Log(Protocol):
    def info(self, message: str, /, *, extra: Mapping[str, object]) -> object: ...


class CallCounter(Protocol):
    def __call__(self, *, tool: str, outcome: str, latency_ms: int, is_fault: bool) -> None: ...


@dataclass(frozen=True)
class AccessWriter:
    """Writes the log line of each call, and counts calls in metrics, which never name a caller."""

    log: Log
    count: CallCounter | None = None

    def __call__(self, access: Access) -> None:
        self.log.info(EVENT, extra=access.fields())
        if self.count is not None:
            self.count(
                tool=access.tool,
                outcome=access.outcome,
                latency_ms=access.latency_ms,
                is_fault=access.is_fault,
            )


def access_of(
    call: ToolCall | None,
    *,
    tools: Collection[str],
    outcome: str,
    seconds: float,
    named_in: Iterable[object],
    shown: Iterable[object] = (),
    otherwise: str = UNKNOWN,
) -> Access:
    """
    Return the record of a call, whose caller may be unknown.

    `otherwise` is the tool if the call is to none of `tools`. `named_in` are the arguments and
    whatever else names a catalog or a document; the last one counts.
    """
    named = {name: each for place in named_in for name, each in _ids(place)}
    caller = call.caller if call else None
    return Access(
        tool=call.tool if call and call.tool in tools else otherwise,
        outcome=outcome,
        latency_ms=round(seconds * 1000),
        user_id=caller.user_id if caller else None,
        session_id=caller.session_id if caller else None,
        catalog_id=named.get("catalog_id"),
        document_id=named.get("document_id"),
        document_ids=_distinct(shown)[:_SHOWN],
    )


def document_of(source: Mapping[str, object]) -> object:
    """
    Return the id of a result's document. A document of a linked knowledge base has none, so its URI
    is returned, or else its name.
    """
    return source["document_id"] or source["uri"] or source["filename"]


def documents_of(response: Mapping[str, object]) -> Iterator[object]:
    """Yield the documents whose text a search's response shows, including duplicates of it."""
    results = response["results"]
    assert isinstance(results, list), "every response has results"
    for result in results:
        for source in (result["source"], *result.get("other_sources", ())):
            yield document_of(source)


def documents_shown(metadata: Mapping[str, object]) -> Iterator[object]:
    """Yield the documents that a catalog tool's answer quotes, or has a link to."""
    sources = metadata.get("sources")
    if isinstance(sources, list):
        for each in sources:
            yield each["document_id"]
            yield from (other["document_id"] for other in each.get("other_sources", ()))
    if "download_url" in metadata:
        yield metadata["document_id"]


def _ids(place: object) -> Iterable[tuple[str, str]]:
    if isinstance(place, Mapping):
        for name in ("catalog_id", "document_id"):
            if isinstance(each := place.get(name), str):
                yield name, _plain(each)


def _distinct(shown: Iterable[object]) -> tuple[str, ...]:
    texts = (_plain(each, _SHOWN_LENGTH) for each in shown if isinstance(each, str))
    return tuple(dict.fromkeys("%20".join(each.split()) for each in texts))


def _plain(named: str, length: int = _LENGTH) -> str:
    """Return the text without characters that reorder or end a line."""
    return "".join(filter(is_plain, named))[:length]
