"""
How fast the pipeline ingests, against bare parsing and embedding of the same files.

    make bench-ingest

Bare is a loop in this process over the same modules: extraction, chunking, embedding. The pipeline
is the whole local mode: S3, events, functions, state machine, ingestion jobs. They take turns, so
that a slow moment of the machine spares neither. A job counts from its start to its end as Bedrock
tells them; end to end is from the first PutObject until every document's record reads indexed.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.corpus import SOURCE, Corpus, corpus
from benchmarks.serving import NotMeasured, measure, print_machine, serving, verdict
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.extraction import read_pages
from stackroom.keys import catalog_id_of
from stackroom.model import DocumentStatus
from stackroom.placement import source_of
from stackroom_local.clients import client
from stackroom_local.records import Records
from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.embedding import MiniLM
from stackroom_local.state import Instance

SPEED = 20
AIM = 0.8
ROUNDS = 2
USER = "bench"
_LOOK_SECONDS = 0.5
_PATIENCE = 600.0


@dataclass(frozen=True, kw_only=True)
class Pass:
    """Seconds of one way through the pipeline."""

    jobs: tuple[float, ...]
    end_to_end: float


def main() -> None:
    print_machine()
    found = corpus()
    print(f"{len(found.files)} files, {found.pages} PDF pages, {found.size / 1e6:.1f} MB: {SOURCE}")
    bare: list[float] = []
    passes: list[Pass] = []
    chunks = 0
    MiniLM().embed("loads the model")
    with serving(SPEED) as instance:
        for number in range(ROUNDS):
            chunks, seconds = embed(found)
            bare.append(seconds)
            passes.append(ingest(instance, found, f"round-{number}"))
        bare.append(embed(found)[1])
    report(chunks, bare, passes)


def embed(found: Corpus) -> tuple[int, float]:
    """Chunks and seconds of the bare loop."""
    began = time.perf_counter()
    embedder, chunking, chunks = MiniLM(), Chunking(), 0
    for name, body in found.files.items():
        text = "\n".join(page.text for page in read_pages(body, name))
        for chunk in chunking.split(text):
            embedder.embed(chunk)
            chunks += 1
    return chunks, time.perf_counter() - began


def ingest(instance: Instance, found: Corpus, catalog: str) -> Pass:
    s3 = client("s3", instance.aws_endpoint)
    began = time.perf_counter()
    for name, body in found.files.items():
        s3.put_object(Bucket=instance.bucket, Key=f"{USER}/{catalog}/{name}", Body=body)
    wait_until_indexed(Records(instance), catalog, count=len(found.files))
    return Pass(end_to_end=time.perf_counter() - began, jobs=tuple(jobs_of(instance, catalog)))


def wait_until_indexed(records: Records, catalog: str, *, count: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        documents = [
            document
            for shelf in records.shelves(USER)
            if shelf.name == catalog
            for document in shelf.documents
        ]
        for document in documents:
            if document.status is DocumentStatus.FAILED:
                raise NotMeasured(f"{document.s3_key} failed: {document.status_reason}")
        if [each.status for each in documents] == [DocumentStatus.INDEXED] * count:
            return
        time.sleep(_LOOK_SECONDS)
    raise NotMeasured(f"{catalog} was not indexed within {_PATIENCE:g} s")


def jobs_of(instance: Instance, catalog: str) -> Iterator[float]:
    """Seconds of each ingestion job that the catalog had; uploads during one make another."""
    catalogs = DynamoCatalogs(
        client=client("dynamodb", instance.aws_endpoint),
        table=instance.catalog_table,
        control_table=instance.control_table,
    )
    known = catalogs.get(catalog_id_of(USER, catalog))
    source = source_of(known) if known else None
    assert source is not None, "what is indexed has a data source"
    answer = client("bedrock-agent", instance.simulator_endpoint).list_ingestion_jobs(
        knowledgeBaseId=source.knowledge_base_id, dataSourceId=source.data_source_id
    )
    for job in answer["ingestionJobSummaries"]:
        yield (job["updatedAt"] - job["startedAt"]).total_seconds()


def report(chunks: int, bare: list[float], passes: list[Pass]) -> None:
    of_jobs = [sum(each.jobs) for each in passes]
    end_to_end = [each.end_to_end for each in passes]
    share = median(bare) / median(of_jobs)
    print(f"{chunks} chunks of at most 300 tokens; chunks a second, in the order of the turns:\n")
    print_row("bare parsing + embedding", chunks, bare)
    print_row(f"ingestion jobs, --speed {SPEED}", chunks, of_jobs)
    print_row("end to end", chunks, end_to_end)
    print(f"\njobs reach {share:.0%} of bare speed   aim {AIM:.0%}: {verdict(share >= AIM)}")
    print(f"end to end {median(bare) / median(end_to_end):.0%}, with every wait and poll")
    print(f"jobs a turn: {', '.join(str(len(each.jobs)) for each in passes)}")


def print_row(what: str, chunks: int, seconds: list[float]) -> None:
    each = ", ".join(f"{chunks / one:.1f}" for one in seconds)
    print(f"  {what:28} {chunks / median(seconds):6.1f}/s   {median(seconds):6.1f} s   ({each})")


if __name__ == "__main__":
    measure(main)
