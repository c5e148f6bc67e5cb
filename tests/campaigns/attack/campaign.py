"""All attempts in turn, each judged; then whether anything of the victim's has changed."""

import random
from collections.abc import Callable, Iterable, Iterator

from tests.campaigns.attack import (
    arguing,
    conversing,
    naming,
    overdoing,
    pretending,
    transferring,
)
from tests.campaigns.attack.oracle import Attempt, Tally, judged
from tests.campaigns.attack.stage import Stage
from tests.campaigns.attack.wire import Answer
from tests.e2e.people import eventually

GENERATORS: tuple[Callable[[Stage, random.Random], Iterator[Attempt]], ...] = (
    naming.foreign_ids,
    naming.paths,
    naming.words,
    arguing.filters,
    arguing.labels,
    arguing.smuggled,
    pretending.spoofed,
    pretending.replayed,
    pretending.strangers,
    pretending.direct,
    pretending.forged,
    overdoing.excesses,
    overdoing.encodings,
    overdoing.neighbours,
    transferring.by_keys,
    transferring.twins,
    transferring.forms,
    transferring.links,
    conversing.conversations,
    conversing.runs,
)


def attempts(stage: Stage, seed: int, *, share: int = 1) -> Iterator[Attempt]:
    """All of them, or by chance one of `share` of each generator's, which is at least one."""
    for generator in GENERATORS:
        chance = random.Random(f"{seed} {generator.__name__}")
        found = list(generator(stage, chance))
        if share > 1:
            found = chance.sample(found, -(-len(found) // share))
        yield from found


def run(stage: Stage, found: Iterable[Attempt]) -> Tally:
    """Run the attempts, and then look for planted data that had time to take effect."""
    before = stage.state()
    tally = judge(stage, found)
    eventually(stage.is_settled, "what the attacker has put is settled")
    judge(stage, naming.harvest(stage), tally)
    tally.changes = _differences(before, stage.state())
    return tally


def judge(stage: Stage, found: Iterable[Attempt], tally: Tally | None = None) -> Tally:
    """Adds to the tally, if there is one already."""
    tally = tally or Tally()
    for attempt in found:
        _note(tally, attempt, attempt.act(), stage)
    return tally


def _note(tally: Tally, attempt: Attempt, answer: Answer, stage: Stage) -> None:
    tally.attempts[attempt.kind] += 1
    tally.tools[attempt.tool] += 1
    verdict = judged(attempt, answer, stage.secrets)
    name = f"{attempt.kind} · {attempt.tool} · {attempt.name}"
    came = f"{answer.status} {answer.body[:400]}"
    if verdict.leak:
        tally.leaks[name] = f"{verdict.leak}: {came}"
    if verdict.unstructured:
        tally.unstructured[name] = f"{verdict.unstructured}: {came}"


def _differences(before: object, after: object, at: str = "") -> dict[str, str]:
    if before == after:
        return {}
    if isinstance(before, dict) and isinstance(after, dict):
        found: dict[str, str] = {}
        for key in sorted({*before, *after}):
            found |= _differences(before.get(key), after.get(key), f"{at}/{key}")
        return found
    return {at: f"was {before!r:.300}, is {after!r:.300}"}
