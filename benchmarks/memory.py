"""
How much memory the local mode takes, all of its processes together, while it takes in many files.

The files go round the catalogs, so that all of these have runs at work at the same time.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from benchmarks.serving import NotMeasured, serving, verdict
from stackroom.aws.dynamodb.items import scan
from stackroom.documents.model import DocumentStatus
from stackroom_local.state import Instance

FILES, CATALOGS, USERS = 3500, 60, 7
AIM = 1536.0  # MiB
_UPLOADERS = 8
_BETWEEN_SAMPLES = 1.0  # seconds; each asks the kernel once per process
_BETWEEN_LOOKS = 5.0
_PATIENCE = 3600.0


@dataclass
class Peak:
    """The most that was seen at one moment: memory in MiB, and how many processes there were."""

    mebibytes: float = 0.0
    processes: int = 0

    def take(self, sizes: list[int]) -> None:
        self.mebibytes = max(self.mebibytes, sum(sizes) / 2**20)
        self.processes = max(self.processes, len(sizes))


@contextmanager
def sampled(pid: int) -> Iterator[Peak]:
    """The peak of this process and all that it starts, while the block runs and after it."""
    peak, over = Peak(), threading.Event()

    def sample() -> None:
        while not over.wait(_BETWEEN_SAMPLES):
            peak.take(list(_sizes(pid)))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        over.set()
        sampler.join()


def _sizes(pid: int) -> Iterator[int]:
    """In bytes; what several share is counted once where the system tells it (PSS of Linux)."""
    root = psutil.Process(pid)
    for process in [root, *root.children(recursive=True)]:
        try:
            told = process.memory_full_info()
        except (psutil.NoSuchProcess, psutil.AccessDenied):  # a zombie's too
            continue
        yield getattr(told, "pss", told.rss)


def report_memory(speed: float) -> None:
    with serving(speed) as instance, sampled(os.getpid()) as peak:
        began = time.monotonic()
        with ThreadPoolExecutor(_UPLOADERS) as uploaders:
            list(uploaders.map(lambda number: _put(instance, number), range(FILES)))
        _wait_until_indexed(instance)
        seconds = time.monotonic() - began
    print(
        f"\n{FILES} files into {CATALOGS} catalogs: indexed after {seconds:.0f} s,"
        f" {FILES / seconds:.1f} a second\n"
        f"  peak of {peak.processes} processes    {peak.mebibytes:5.0f} MiB"
        f"   aim {AIM:g} MiB: {verdict(peak.mebibytes <= AIM)}"
    )


def _put(instance: Instance, number: int) -> None:
    catalog = number % CATALOGS
    instance.client("s3").put_object(
        Bucket=instance.bucket,
        Key=f"user-{catalog % USERS}/shelf-{catalog}/note-{number}.txt",
        Body=f"Note {number}: key {number * 7919 % 10_007} hangs in room {number % 31}.".encode(),
    )


def _wait_until_indexed(instance: Instance) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        counts = _counts(instance)
        if counts[DocumentStatus.FAILED]:
            raise NotMeasured(f"of {FILES} files {counts[DocumentStatus.FAILED]} failed")
        if counts[DocumentStatus.INDEXED] == FILES:
            return
        time.sleep(_BETWEEN_LOOKS)
    raise NotMeasured(f"{FILES} files were not indexed within {_PATIENCE:g} s")


def _counts(instance: Instance) -> Counter[str]:
    items = scan(
        instance.client("dynamodb"),
        TableName=instance.catalog_table,
        FilterExpression="begins_with(sk, :document)",
        ExpressionAttributeValues={":document": {"S": "DOC#"}},
    )
    return Counter(item["status"] for item in items)
