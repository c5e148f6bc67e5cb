"""One question after the other, by adapter and by bare client in turns; and many at once."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median

from benchmarks.serving import NotMeasured
from benchmarks.vector_stores.filled import Filled, embeddings

SHOWN = 5
AT_ONCE = (1, 4, 16)
UNMEASURED = 10  # for connections, mappings, and the first call of everything


@dataclass(frozen=True)
class Timed:
    """Milliseconds, question by question; how many questions a second, by how many ask at once."""

    bare: list[float] = field(default_factory=list)
    adapter: list[float] = field(default_factory=list)
    a_second: dict[int, float] = field(default_factory=dict)

    @property
    def own(self) -> float:
        """Of the same question, what our code adds: the median."""
        return median(two - one for one, two in zip(self.bare, self.adapter, strict=True))


def timed(stores: Sequence[Filled], questions: Sequence[str]) -> dict[str, Timed]:
    """By the store's name. Every question's vector is at hand: embedding is told apart."""
    found = {store.name: Timed() for store in stores}
    for store in stores:
        for question in questions:
            for ask in (_searched, _called):
                ask(store, question)
    for number, question in enumerate(questions):
        for store in _in_turns(stores, number):
            adapter, bare = found[store.name].adapter, found[store.name].bare
            ways = [(adapter, _searched), (bare, _called)]
            for took, ask in ways if number % 2 else reversed(ways):
                milliseconds = _milliseconds(ask, store, question)
                if number >= UNMEASURED:
                    took.append(milliseconds)
    for store in stores:
        found[store.name].a_second.update(
            {threads: _a_second(store, questions, threads) for threads in AT_ONCE}
        )
    return found


def embedding(questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Milliseconds to make each question's vector, and to find it kept."""
    made = embeddings(1024)
    times = [[_milliseconds_of(made.embed, each) for each in questions] for _ in range(2)]
    return times[0], times[1]


def _a_second(store: Filled, questions: Sequence[str], threads: int) -> float:
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda question: _searched(store, question), questions):
            pass
    return len(questions) / (time.perf_counter() - began)


def _searched(store: Filled, question: str) -> None:
    found = store.knowledge_base.retrieve(question, None, SHOWN)
    if found.notice is not None or len(found.passages) != SHOWN:
        raise NotMeasured(f"{store.name} found {len(found.passages)} passages: {found.notice}")


def _called(store: Filled, question: str) -> None:
    store.bare(question, None, SHOWN)


def _milliseconds(ask: Callable[[Filled, str], None], store: Filled, question: str) -> float:
    began = time.perf_counter()
    ask(store, question)
    return (time.perf_counter() - began) * 1000


def _milliseconds_of(embed: Callable[[str], object], question: str) -> float:
    began = time.perf_counter()
    embed(question)
    return (time.perf_counter() - began) * 1000


def _in_turns(stores: Sequence[Filled], number: int) -> Sequence[Filled]:
    """None always comes first."""
    turn = number % len(stores)
    return [*stores[turn:], *stores[:turn]]
