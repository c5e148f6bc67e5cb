"""`make bench-stores`; ARGS="--help" tells the sizes."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pydoc_data.topics import topics
from statistics import median

from benchmarks.answers.layout import aligned
from benchmarks.corpus import SOURCE, sentences
from benchmarks.serving import NotMeasured, measure, percentile, print_machine, verdict
from benchmarks.vector_stores import bedrock
from benchmarks.vector_stores.chunks import Chunk, of_index
from benchmarks.vector_stores.filled import Filled
from benchmarks.vector_stores.library import Library, library
from benchmarks.vector_stores.opensearch import opensearch
from benchmarks.vector_stores.postgresql import pgvector
from benchmarks.vector_stores.speed import AT_ONCE, SHOWN, UNMEASURED, Timed, embedding, timed
from benchmarks.vector_stores.stand_in import as_product, standing_in
from benchmarks.vector_stores.starts import RUNS, Start, starts
from stackroom.aws.session import client
from stackroom.documents.passages import Search

AIM = 5.0  # milliseconds of our own code, at p50
_TOLD = """
What these figures can tell: what our code adds to a client's call, and how the adapters compare in
that; that a slow start is not every agent's. What they can't: how fast a store is. No network lies
between; Bedrock, S3 Vectors and OpenSearch are simulators that compare every vector in Python, and
take their time from the same processors; PostgreSQL is one, on this machine's disk and over a
socket, without TLS. The questions a second are of one process with its threads: what the stores
take of the machine is in them.
"""


def main() -> None:
    options = _options()
    print_machine()
    questions = list(islice(sentences(), UNMEASURED + options.questions))
    with ExitStack() as stack:
        endpoint = stack.enter_context(standing_in())
        stack.enter_context(as_product(endpoint))
        there = library(endpoint, list(islice(_paragraphs(), options.passages)))
        chunks = of_index(client("s3vectors"), there.index_arn)
        print(f"searched: {len(chunks):,} passages of {SOURCE}\n", flush=True)
        stores = stack.enter_context(_stores(endpoint, there, chunks))
        made, kept = embedding(questions)
        _print_speed(timed(stores, questions))
    print(
        f"\na question's vector, apart from all this: made in {median(made):.1f} ms (p50; here by"
        f" a small model on this machine), found kept in {median(kept):.3f} ms\n"
    )
    _print_starts(starts())
    print(_TOLD)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-stores", description=__doc__)
    parser.add_argument("--passages", type=int, default=1000, help="in each store")
    parser.add_argument("--questions", type=int, default=200, help="measured, at most 240")
    options = parser.parse_args()
    if options.questions > 240:  # beyond, vectors are no longer kept for all of them
        raise NotMeasured(f"--questions {options.questions}: at most 240 vectors are kept")
    return options


@contextmanager
def _stores(endpoint: str, there: Library, chunks: Sequence[Chunk]) -> Iterator[list[Filled]]:
    with (
        opensearch(endpoint, chunks, Search.SEMANTIC, Search.HYBRID) as in_opensearch,
        pgvector(chunks, Search.SEMANTIC, Search.HYBRID) as in_postgresql,
    ):
        yield [
            bedrock.by_retrieve(there.knowledge_base_id),
            bedrock.directly(there.index_arn, Search.SEMANTIC),
            bedrock.directly(there.index_arn, Search.HYBRID),
            bedrock.managed(there.managed_id),
            *in_opensearch,
            *in_postgresql,
        ]


def _paragraphs() -> Iterator[str]:
    for _, text in sorted(topics.items()):
        yield from (each for each in text.split("\n\n") if len(each.split()) > 20)


def _print_speed(found: Mapping[str, Timed]) -> None:
    heads = ["milliseconds", "bare p50", "p95", "adapter p50", "p95", "own code p50", "aim"]
    rows = [[*heads, *(f"a second, {threads} at once" for threads in AT_ONCE)]]
    for name, took in found.items():
        rows.append(
            [
                name,
                f"{median(took.bare):.1f}",
                f"{percentile(took.bare, 95):.1f}",
                f"{median(took.adapter):.1f}",
                f"{percentile(took.adapter, 95):.1f}",
                f"{took.own:.2f}",
                f"{AIM:g}: {verdict(took.own <= AIM)}",
                *(f"{took.a_second[threads]:.0f}" for threads in AT_ONCE),
            ]
        )
    print(f"{SHOWN} passages an answer; the vectors of all questions are kept\n")
    print(aligned(rows))


def _print_starts(found: Mapping[str, Start]) -> None:
    print(f"a cold start of an agent with one knowledge base, milliseconds, the best of {RUNS}\n")
    rows = [["store", "what every agent imports", "to be given it"]]
    rows += [[name, f"{each.imported:.0f}", f"{each.given:.0f}"] for name, each in found.items()]
    print(aligned(rows))


if __name__ == "__main__":
    measure(main)
