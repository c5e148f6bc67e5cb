"""
What it is worth to keep questions' vectors in Valkey, and what it costs when Valkey dies.

    make bench-embeddings

Questions are asked one after the other by a Zipf law: the one of rank r is asked in proportion to
1 / r ** exponent. They go the way that a search's go, `CachedEmbeddings` over a real Valkey, and
what isn't there is embedded by the simulator's model in a process of its own, over HTTP. That
model is smaller and nearer than Bedrock's: how long a miss takes says nothing of AWS.

The hit rate depends on the law alone, so for the other exponents no model is asked: a number takes
its place.
"""

import logging
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median
from unittest.mock import patch

from benchmarks.agents import simulator
from benchmarks.corpus import sentences
from benchmarks.serving import NotMeasured, measure, percentile, print_machine, verdict
from simulator.tests.world import client
from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.aws.redis.embedding_cache import LONGEST, RedisEmbeddingCache
from stackroom.search.cached_embeddings import CachedEmbeddings, Embeddings, Vector, asked_by
from tests.support.valkey import valkey_server

MODEL, DIMENSIONS = "amazon.titan-embed-text-v2:0", 1024
QUESTIONS = 10_000
DISTINCT = 10_000
EXPONENT, OTHERS = 1.0, (0.7, 1.2)
AIM = 0.40  # of the questions
IN_TROUBLE = 500  # before Valkey is gone, and as many after
LONG = 10  # milliseconds
# Without a model questions follow each other without a pause, which a busy machine can't keep up
# with: there Valkey is waited for, since it is the law alone that counts.
PATIENT = 5.0
TENANTS = ("alice", "bob", "ida")


@dataclass
class Timed:
    """The model, with a clock around it."""

    embeddings: Embeddings
    seconds: float = 0.0
    provider: str = "bedrock"
    model: str = MODEL
    dimensions: int = DIMENSIONS

    def embed(self, text: str) -> Vector:
        began = time.perf_counter()
        try:
            return self.embeddings.embed(text)
        finally:
            self.seconds += time.perf_counter() - began


class Numbers:
    """In place of a model: always the same vector, at once."""

    provider, model, dimensions = "bedrock", MODEL, DIMENSIONS

    # ARG002: it is the same whatever it is asked.
    def embed(self, text: str) -> Vector:  # noqa: ARG002
        return (1.0,) + (0.0,) * (DIMENSIONS - 1)


@dataclass
class Taken:
    """Milliseconds, question by question: whole, and without the model's."""

    hits: list[float] = field(default_factory=list)
    misses: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    own_of_misses: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.hits) / (len(self.hits) + len(self.misses))


def main() -> None:
    print_machine()
    logging.getLogger("stackroom").setLevel(logging.ERROR)  # that it doesn't answer is meant
    print(f"{QUESTIONS:,} questions, of {DISTINCT:,} different ones that might be asked\n")
    with simulator() as world, environment():
        runtime = client("bedrock-runtime", world.endpoint)
        model = Timed(BedrockEmbeddings(client=runtime, model=MODEL, dimensions=DIMENSIONS))
        model.embed("what is asked first pays for the connection")
        taken = asked(EXPONENT, model)
        print(f"exponent {EXPONENT}: {rate(EXPONENT, taken)}")
        print(f"  with a hit              {shown(taken.hits)}")
        print(f"  with a miss             {shown(taken.misses)}")
        print(f"  a miss, model left out  {shown(taken.own_of_misses)}")
        for exponent in OTHERS:
            others = asked(exponent, Timed(Numbers()), longest=PATIENT)
            print(f"exponent {exponent}: {rate(exponent, others)}")
        print()
        in_trouble("killed (kill -9)", signal.SIGKILL, model)
        in_trouble("stands still (SIGSTOP)", signal.SIGSTOP, model)
    print(f"\nhit rate over {AIM:.0%} at exponent {EXPONENT}: {verdict(taken.rate > AIM)}")


def asked(exponent: float, model: Timed, *, longest: float = LONGEST) -> Taken:
    with valkey_server() as server:
        cache = RedisEmbeddingCache(server.connection_url, longest=longest)
        return ask(asked_by_law(exponent, QUESTIONS), cache, model)


def rate(exponent: float, taken: Taken) -> str:
    """Beside what a cache that forgets nothing has, and always answers in time."""
    questions = asked_by_law(exponent, QUESTIONS)
    best = 1 - len(set(questions)) / len(questions)
    return f"hit rate {taken.rate:.1%}, of {best:.1%} that can be had"


def shown(times: Sequence[float]) -> str:
    return f"{median(times):6.2f} ms (p50) {percentile(times, 95):6.2f} ms (p95)"


def in_trouble(what: str, trouble: signal.Signals, model: Timed) -> None:
    """The second half of the questions finds Valkey gone; every one must have its vector."""
    questions = asked_by_law(EXPONENT, 2 * IN_TROUBLE)
    with valkey_server() as server, signalled(server_pid(server.port)) as send:
        cache = RedisEmbeddingCache(server.connection_url)
        before = ask(questions[:IN_TROUBLE], cache, model)
        send(trouble)
        began = time.perf_counter()
        after = ask(questions[IN_TROUBLE:], cache, model)
        seconds = time.perf_counter() - began
    answered = sum(len(each.hits) + len(each.misses) for each in (before, after))
    print(f"Valkey {what} after {IN_TROUBLE:,} questions, and {IN_TROUBLE:,} more are asked:")
    print(
        f"  answered {answered:,} of {len(questions):,}, {len(after.misses):,} by the model alone"
    )
    print(f"  own time before         {shown(before.own)}")
    print(f"  own time after          {shown(after.own)}, at most {max(after.own):.1f}")
    waited = sum(each > LONG for each in after.own)
    print(f"  longer than {LONG} ms       {waited} of them, in {seconds:.1f} seconds")


def ask(questions: Sequence[str], cache: RedisEmbeddingCache, model: Timed) -> Taken:
    embeddings = CachedEmbeddings(embeddings=model, cache=cache)
    taken = Taken()
    for number, question in enumerate(questions):
        before = model.seconds
        began = time.perf_counter()
        with asked_by(TENANTS[number % len(TENANTS)]):
            vector = embeddings.embed(question)
        whole = (time.perf_counter() - began) * 1000
        if len(vector) != DIMENSIONS:
            raise NotMeasured(f"a vector of {len(vector)} dimensions")
        is_hit, _ = embeddings.tally.taken()
        (taken.hits if is_hit else taken.misses).append(whole)
        own = whole - (model.seconds - before) * 1000
        taken.own.append(own)
        if not is_hit:
            taken.own_of_misses.append(own)
    return taken


def asked_by_law(exponent: float, count: int) -> list[str]:
    """The same at every run."""
    weights = list(accumulate(1 / rank**exponent for rank in range(1, DISTINCT + 1)))
    known = different()
    return random.Random(12).choices(known, cum_weights=weights, k=count)


def different() -> list[str]:
    openings = list(dict.fromkeys(sentences()))
    return [
        f"{openings[number % len(openings)]}, in case {number // len(openings)}?"
        for number in range(DISTINCT)
    ]


@contextmanager
def environment() -> Iterator[None]:
    with patch.dict(os.environ, {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}):
        yield


@contextmanager
def signalled(process: int) -> Iterator[Callable[[signal.Signals], None]]:
    """It goes on afterwards, so that whoever started it can end it."""
    sent: list[signal.Signals] = []

    def send(what: signal.Signals) -> None:
        os.kill(process, what)
        sent.append(what)

    try:
        yield send
    finally:
        if signal.SIGSTOP in sent:
            os.kill(process, signal.SIGCONT)


def server_pid(port: int) -> int:
    import redis  # noqa: PLC0415 - for this alone

    with redis.Redis(port=port) as client_:
        return int(client_.info("server")["process_id"])


if __name__ == "__main__":
    measure(main)
