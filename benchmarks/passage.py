"""Measures the time from an upload into an idle pipeline until a search finds it, by part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from benchmarks.layout import Row
from benchmarks.limits import Work, alone
from benchmarks.serving import verdict
from benchmarks.stage import Stage
from benchmarks.traffic import Upload
from simulated_time.functions import KEPT

_AIM = 3.0  # seconds in addition to Bedrock's own
_STEP = 0.01  # seconds, the precision of the times
_PATIENCE = 3_600.0
_A_MOMENT = 60.0  # within which functions stay warm
# The operations that submit a document to Bedrock.
_TOLD = ("StartIngestionJob", "IngestKnowledgeBaseDocuments")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case; `before` says if and where an earlier file was uploaded."""

    name: str
    before: str | None
    idle: float  # seconds since then


CASES = (
    Case(name="new catalog, cold functions", before=None, idle=0.0),
    Case(name="new catalog, warm functions", before="other", idle=_A_MOMENT),
    Case(name="known catalog, cold functions", before="shelf", idle=2 * KEPT),
    Case(name="known catalog, warm functions", before="shelf", idle=_A_MOMENT),
)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    Seconds from the upload until the queue has its event, the record exists, Bedrock has the
    document, a search finds it, and the record says so; `own` is Bedrock's minimum.
    """

    queued: float
    recorded: float
    called: float
    searchable: float
    reported: float
    own: float


def passage(case: Case, seed: int) -> Passage:
    stage = Stage(seed=seed)
    if case.before is not None:
        stage.upload(_file(case.before, f"before-{seed}"))
        stage.run(at_most=_PATIENCE, until=stage.is_quiet)
        stage.run(at_most=case.idle, until=lambda: False)
    upload = _file("shelf", f"file-{seed}")
    seconds = stage.account.durations.seconds(upload.size, upload.etag)
    began, already = stage.hub.time, _calls(stage)
    stage.upload(upload)
    uploads, *_ = stage.account.queues
    happens: dict[str, Callable[[], bool]] = {
        "queued": lambda: not uploads.is_empty,
        "recorded": lambda: _status(stage, upload.key) is not None,
        "called": lambda: _calls(stage) > already,
        "searchable": lambda: any(text.endswith(upload.etag) for text in _found(stage)),
        "reported": lambda: _status(stage, upload.key) == "indexed",
    }
    moments: dict[str, float] = {}
    while len(moments) < len(happens):
        assert stage.hub.time < began + _PATIENCE, f"{set(happens) - set(moments)} never happens"
        stage.hub.run(until=stage.hub.time + _STEP)
        for what, has_happened in happens.items():
            if what not in moments and has_happened():
                moments[what] = stage.hub.time - began
    own = alone(Work(at=0.0, submitted=0.0, seconds=seconds)) + SEARCHABLE_LAG.value
    return Passage(**moments, own=own)


def table(measured: Sequence[tuple[Case, Sequence[Passage]]]) -> list[Row]:
    """Return a table of medians: the parts, then the whole with its aim."""
    heads = (
        "one file, medians in s",
        "event",
        "to its record",
        "to the call",
        "to searchable",
        "record says so after",
        "upload to searchable",
        f"beside Bedrock's own (aim {_AIM:g})",
    )
    return [heads] + [_row(case, passages) for case, passages in measured]


def _row(case: Case, passages: Sequence[Passage]) -> Row:
    beside = median(each.searchable - each.own for each in passages)
    parts = (
        [each.queued for each in passages],
        [each.recorded - each.queued for each in passages],
        [each.called - each.recorded for each in passages],
        [each.searchable - each.called for each in passages],
        [each.reported for each in passages],
        [each.searchable for each in passages],
    )
    return (
        case.name,
        *(f"{median(each):.1f}" for each in parts),
        f"{beside:.1f} {verdict(beside <= _AIM)}",
    )


def _file(catalog: str, etag: str) -> Upload:
    return Upload(at=0.0, key=f"user-0/{catalog}/{etag}.pdf", size=50_000, etag=etag)


def _calls(stage: Stage) -> int:
    return sum(stage.account.bill.accepted[each] for each in _TOLD)


def _status(stage: Stage, key: str) -> str | None:
    kept = stage.stores.documents.kept.values()
    return next((each.status for each in kept if each.s3_key == key), None)


def _found(stage: Stage) -> list[str]:
    return [text for _, text in stage.account.searchable.found()]
