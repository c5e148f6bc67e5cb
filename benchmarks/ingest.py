"""
How fast the pipeline ingests, against bare parsing and embedding of the same files.

    make bench-ingest

Bare is a loop in one process over the same modules: extraction, chunking, embedding. The pipeline
is the whole local mode: S3, events, functions, state machine, ingestion jobs. They take turns with
a few files each, so that a slow moment of the machine spares neither. A job counts from its start
to its end as Bedrock tells them; end to end is from the first PutObject until every document's
record reads indexed.
"""

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import astuple, dataclass
from multiprocessing import get_context

import psutil

from bedrock_kb_simulator.chunk_strategies import Chunking
from bedrock_kb_simulator.embedder import MiniLM
from benchmarks.corpus import SOURCE, corpus
from benchmarks.serving import (
    NotMeasured,
    measure,
    print_machine,
    serving,
    verdict,
    wait_until_indexed,
)
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from stackroom.documents.keys import catalog_id_of
from stackroom.inspection.extraction import read_pages
from stackroom_local.state import Instance

SPEED = 20
AIM = 0.8
USER = "bench"
CATALOG = "reference"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Seconds that the same files took: bare (the mean of before and after), as jobs, and whole."""

    chunks: int
    bare: float
    jobs: float
    end_to_end: float
    bare_cpu: float  # which the machine's load changes little
    simulator_cpu: float


def main() -> None:
    print_machine()
    found = corpus()
    print(f"{len(found.files)} files, {found.pages} PDF pages, {found.size / 1e6:.1f} MB: {SOURCE}")
    with serving(SPEED) as instance, loner() as bare:
        bare.submit(embed, {"warm.txt": b"loads the model"}).result()
        turns = [turn(instance, bare, batch) for batch in found.batches()]
        require_all_passages(instance, sum(each.chunks for each in turns))
    report(turns)


def loner() -> ProcessPoolExecutor:
    """
    A process in a session of its own, as the simulator is: Linux shares a busy machine's CPUs out
    by session (sched(7), autogroup), and we may share ours with much else.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=os.setsid)


def turn(instance: Instance, bare: ProcessPoolExecutor, files: Mapping[str, bytes]) -> Turn:
    chunks, before, cpu_before = bare.submit(embed, files).result()
    ended, spent = len(jobs(instance)), cpu_of_simulator(instance)
    end_to_end = ingest(instance, files)
    simulator_cpu = cpu_of_simulator(instance) - spent
    _, after, cpu_after = bare.submit(embed, files).result()
    return Turn(
        chunks=chunks,
        bare=(before + after) / 2,
        jobs=sum(jobs(instance)[ended:]),
        end_to_end=end_to_end,
        bare_cpu=(cpu_before + cpu_after) / 2,
        simulator_cpu=simulator_cpu,
    )


def embed(files: Mapping[str, bytes]) -> tuple[int, float, float]:
    """Chunks of the bare loop, its seconds, and those of CPU time."""
    began, spent = time.perf_counter(), time.process_time()
    embedder, chunking, chunks = MiniLM(), Chunking(), 0
    for name, body in files.items():
        text = "\n".join(page.text for page in read_pages(body, name))
        for chunk in chunking.split(text):
            embedder.embed(chunk)
            chunks += 1
    return chunks, time.perf_counter() - began, time.process_time() - spent


def cpu_of_simulator(instance: Instance) -> float:
    """CPU seconds of the process and of its parser."""
    simulator = psutil.Process(instance.children["simulator"])
    times = (each.cpu_times() for each in [simulator, *simulator.children()])
    return float(sum(each.user + each.system for each in times))


def ingest(instance: Instance, files: Mapping[str, bytes]) -> float:
    """Seconds from the first PutObject until all are indexed."""
    s3 = instance.client("s3")
    began = time.perf_counter()
    for name, body in files.items():
        s3.put_object(Bucket=instance.bucket, Key=f"{USER}/{CATALOG}/{name}", Body=body)
    wait_until_indexed(instance, USER, [f"{USER}/{CATALOG}/{name}" for name in files])
    return time.perf_counter() - began


def jobs(instance: Instance) -> list[float]:
    """Seconds of the catalog's ingestion jobs, oldest first; uploads during one make another."""
    catalogs = DynamoCatalogs(client=instance.client("dynamodb"), table=instance.catalog_table)
    known = catalogs.get(catalog_id_of(USER, CATALOG))
    if known is None or (source := known.source) is None:
        return []
    answer = instance.client("bedrock-agent").list_ingestion_jobs(
        knowledgeBaseId=source.knowledge_base_id,
        dataSourceId=source.data_source_id,
        sortBy={"attribute": "STARTED_AT", "order": "ASCENDING"},
    )
    return [
        (job["updatedAt"] - job["startedAt"]).total_seconds()
        for job in answer["ingestionJobSummaries"]
    ]


def require_all_passages(instance: Instance, chunks: int) -> None:
    """The pipeline must have embedded what the bare loop did, or the comparison means nothing."""
    store = instance.state_dir / "simulator" / "simulator.sqlite"
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        [(stored,)] = connection.execute("SELECT count(*) FROM vectors")
    if stored != chunks:
        raise NotMeasured(f"the pipeline stored {stored} passages, the bare loop made {chunks}")


def report(turns: Sequence[Turn]) -> None:
    chunks, bare, of_jobs, end_to_end, bare_cpu, simulator_cpu = (
        sum(each) for each in zip(*map(astuple, turns), strict=True)
    )
    print(f"{chunks} chunks of at most 300 tokens, at --speed {SPEED}, in {len(turns)} turns\n")
    print(f"  bare parsing + embedding  {chunks / bare:6.1f} chunks/s  {bare:6.1f} s")
    print(
        f"  ingestion jobs            {chunks / of_jobs:6.1f} chunks/s  {of_jobs:6.1f} s"
        f"   {bare / of_jobs:4.0%} of bare   aim {AIM:.0%}: {verdict(bare / of_jobs >= AIM)}"
    )
    print(
        f"  end to end                {chunks / end_to_end:6.1f} chunks/s  {end_to_end:6.1f} s"
        f"   {bare / end_to_end:4.0%} of bare, with every event, wait and poll"
    )
    each = ", ".join(f"{one.bare / one.jobs:.0%}" for one in turns)
    print(
        f"  CPU time a chunk: bare {1000 * bare_cpu / chunks:.0f} ms, the simulator "
        f"{1000 * simulator_cpu / chunks:.0f} ms"
    )
    print(f"\njobs against bare, turn by turn: {each}")


if __name__ == "__main__":
    measure(main)
