"""
How true the times are that `stackroom status` tells: each looked at until it came true or didn't.

Waves of files of several sizes into catalogs with data sources of their own and on the shared one;
several times a second everybody's remaining times are read, as `status --watch` does.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

from benchmarks.serving import NotMeasured, serving
from stackroom.documents.model import DocumentStatus
from stackroom.ingestion.estimates import DocumentEstimate
from stackroom_local.sites.site_records import SiteRecords
from stackroom_local.state import Instance

USER = "bench"
CATALOGS = 6  # four of them get data sources of their own
# Bytes of text that each wave puts into each catalog; of the last one, the first catalog too that
# shares a data source gets a long document.
_WAVES: tuple[Sequence[int], ...] = ((500,), (500, 5_000, 30_000), (2_000, 10_000))
_LONG = 150_000
_LOOK_SECONDS = 0.3
_PATIENCE = 900.0


@dataclass
class Promise:
    """What was told of one document, in seconds by our clock, and when it was settled."""

    told: list[tuple[float, float | None]] = field(default_factory=list)
    settled: float | None = None

    @property
    def waits(self) -> list[tuple[float | None, float]]:
        """What was told, and what was true then."""
        assert self.settled is not None, "looked at until all is settled"
        return [(told, self.settled - at) for at, told in self.told]


def measured(speed: float) -> list[Promise]:
    promises: dict[str, Promise] = {}
    with serving(speed) as instance:
        for number, sizes in enumerate(_WAVES):
            is_last = number == len(_WAVES) - 1
            keys = list(_put(instance, number, sizes, with_long=is_last))
            promises |= _watched(instance, keys, speed)
    return list(promises.values())


def report(promises: Sequence[Promise]) -> None:
    looks = [each for promise in promises for each in promise.waits]
    known = [(told, true) for told, true in looks if told is not None]
    firsts = [promise.waits[0] for promise in promises if promise.told]
    ratios = [told / max(0.1, true) for told, true in firsts if told is not None]
    print(f"\nremaining times as told, of {len(promises)} documents, {len(looks):,} looks")
    if len(ratios) > 1:
        shares = quantiles(ratios, n=20, method="inclusive")
        print(
            f"  first told / true        p5 {shares[0]:.2f}, median {shares[9]:.2f},"
            f" p95 {shares[-1]:.2f}"
        )
    unknown = len(looks) - len(known)
    short = sum(told < true / 2 for told, true in known)
    long = sum(told > true * 2 for told, true in known)
    exceeded = max((true - told for told, true in known), default=0.0)
    print(f"  told as unknown or late  {_share(unknown, len(looks))}")
    print(f"  below half of the truth  {_share(short, len(looks))}")
    print(f"  over double the truth    {_share(long, len(looks))}")
    print(f"  the most that a time told was exceeded by: {exceeded:.0f} s")


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):6.1%} of the looks"


def _put(instance: Instance, wave: int, sizes: Sequence[int], *, with_long: bool) -> Iterable[str]:
    s3 = instance.client("s3")
    for catalog in range(CATALOGS):
        of_this = [*sizes, _LONG] if with_long and catalog == CATALOGS - 1 else sizes
        for size in of_this:
            key = f"{USER}/shelf-{catalog}/{wave}-{size}.txt"
            s3.put_object(Bucket=instance.bucket, Key=key, Body=_text(key, size).encode())
            yield key


def _text(key: str, size: int) -> str:
    line = f"Of {key}, a line that says what lines say when nobody reads them twice.\n"
    return (line * (size // len(line) + 1))[:size]


def _watched(instance: Instance, keys: Sequence[str], speed: float) -> dict[str, Promise]:
    """Until all are settled."""
    promises = {key: Promise() for key in keys}
    records = SiteRecords(instance)
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        listings = records.listings(USER)
        now = time.monotonic()
        for listing in listings:
            for document in listing.documents:
                promise = promises.get(document.s3_key)
                if promise is None or promise.settled is not None:
                    continue
                if document.status is DocumentStatus.FAILED:
                    raise NotMeasured(f"{document.s3_key} failed: {document.status_reason}")
                if document.status is DocumentStatus.INDEXED:
                    promise.settled = now
                else:
                    promise.told.append(
                        (now, _told(listing.estimates[document.document_id], speed))
                    )
        if all(each.settled is not None for each in promises.values()):
            return promises
        time.sleep(_LOOK_SECONDS)
    raise NotMeasured(f"not all of {len(keys)} documents were indexed within {_PATIENCE:g} s")


def _told(estimate: DocumentEstimate, speed: float) -> float | None:
    """As it is shown, in seconds by our clock."""
    return None if estimate.eta_seconds is None else max(1.0, estimate.eta_seconds / speed)
