"""Generates uploads: sizes, names and times, all from a seed."""

import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from simulated_time.bedrock import BROKEN
from simulated_time.stores import Bucket

# Sizes, assumed: log-normal around 50 KB, at most 10 MB.
_MEDIAN, _SPREAD, LARGEST = 50_000, 1.0, 10_000_000
CATALOGS_OF_A_USER = 5


@dataclass(frozen=True, kw_only=True)
class Upload:
    """An upload; `at` is in seconds since the start."""

    at: float
    key: str
    size: int
    etag: str

    @property
    def is_broken(self) -> bool:
        """Return True if Bedrock always fails the document, without a reason."""
        return self.etag.startswith(BROKEN)


@dataclass
class Traffic:
    chance: random.Random
    extensions: tuple[str, ...] = ("pdf", "pdf", "pdf", "docx")
    made: int = 0

    def upload(self, at: float, catalog: int, number: int) -> Upload:
        self.made += 1
        drawn = self.chance.lognormvariate(0, _SPREAD)
        return Upload(
            at=at,
            key=self._key(catalog, number),
            size=round(min(_MEDIAN * drawn, LARGEST)),
            etag=f"{self.made:x}",
        )

    def _key(self, catalog: int, number: int) -> str:
        user, folder = divmod(catalog, CATALOGS_OF_A_USER)
        extension = self.extensions[number % len(self.extensions)]
        return f"user-{user}/shelf-{folder}/file-{number}.{extension}"

    def burst(self, uploads: int, catalogs: int, *, within: float) -> list[Upload]:
        """Distribute uploads evenly over the catalogs, in random order."""
        turns = [(number % catalogs, number // catalogs) for number in range(uploads)]
        self.chance.shuffle(turns)
        moments = sorted(self.chance.uniform(0, within) for _ in range(uploads))
        return [
            self.upload(at, catalog, number)
            for at, (catalog, number) in zip(moments, turns, strict=True)
        ]

    def half_broken(self, uploads: Sequence[Upload]) -> list[Upload]:
        broken = set(self.chance.sample(range(len(uploads)), len(uploads) // 2))
        return [
            replace(each, etag=BROKEN + each.etag) if number in broken else each
            for number, each in enumerate(uploads)
        ]

    def large(self, files: int, size: int, *, within: float) -> list[Upload]:
        """Upload this many files of that size into the first catalog."""
        return [
            Upload(
                at=self.chance.uniform(0, within),
                key=self._key(0, 0).replace("file-0", f"large-{number}"),
                size=size,
                etag=f"large-{number}",
            )
            for number in range(files)
        ]

    def steady(self, uploads: int, catalogs: int, *, apart: float) -> list[Upload]:
        """Upload one file after another, into the catalogs in turn."""
        return [
            self.upload(number * apart, number % catalogs, number // catalogs)
            for number in range(uploads)
        ]

    def trickle(self, *, days: float, daily: int, catalogs: int, files: int) -> Iterator[Upload]:
        """
        Upload with Poisson arrivals, Zipf (exponent 1) over catalogs; a catalog with this many
        files gets new versions of them.
        """
        weights = list(accumulate(1 / rank for rank in range(1, catalogs + 1)))
        have = [0] * catalogs
        at = self.chance.expovariate(daily / 86_400)
        while at < days * 86_400:
            catalog = bisect(weights, self.chance.uniform(0, weights[-1]))
            if have[catalog] < files:
                number = have[catalog]
                have[catalog] += 1
            else:
                number = self.chance.randrange(files)
            yield self.upload(at, catalog, number)
            at += self.chance.expovariate(daily / 86_400)


def catalog_of(key: str) -> str:
    return key.rpartition("/")[0]


def put(bucket: Bucket, upload: Upload) -> None:
    bucket.put(upload.key, size=upload.size, etag=upload.etag)
