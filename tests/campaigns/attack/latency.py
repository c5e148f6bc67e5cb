"""Whether the time of a refusal tells what its words don't: that an id is somebody else's."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.campaigns.attack.naming import NAMES_CATALOG, OF_DOCUMENT, required
from tests.campaigns.attack.stage import TOOLS, Stage

_SHUFFLES = 2000
# On a machine that is busy with itself: a difference that neither chance nor a pause explains.
_CHANCE = 0.001
_MILLISECONDS = 1.0
_SHARE = 0.15


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Milliseconds of refusals, of ids that are another's, and of ids that are nobody's."""

    tool: str
    what: str
    foreign: Sequence[float]
    absent: Sequence[float]

    @property
    def difference(self) -> float:
        return median(self.foreign) - median(self.absent)

    def tells(self, chance: random.Random) -> bool:
        """Whether the medians differ by what matters, and by more than chance."""
        least = max(_MILLISECONDS, _SHARE * median(self.absent))
        if abs(self.difference) < least:
            return False
        both = [*self.foreign, *self.absent]
        as_far = sum(
            abs(median(shuffled[: len(self.foreign)]) - median(shuffled[len(self.foreign) :]))
            >= abs(self.difference)
            for shuffled in (chance.sample(both, len(both)) for _ in range(_SHUFFLES))
        )
        return as_far / _SHUFFLES < _CHANCE

    def told(self) -> str:
        return (
            f"{self.tool:26}{self.what:10}{len(self.foreign):7}{median(self.foreign):10.2f}"
            f"{median(self.absent):10.2f}{self.difference:+10.2f}"
        )


HEADER = f"{'refusals, ms':26}{'of a':10}{'calls':>7}{'foreign':>10}{'absent':>10}{'':>10}"


def compared(stage: Stage, chance: random.Random, *, calls: int) -> Iterator[Comparison]:
    """Each tool that takes an id; foreign and absent ids take turns, in turn."""
    for tool in NAMES_CATALOG:
        foreign = required(stage, tool, stage.victim.catalog_id)
        pairs = [
            (foreign, {**foreign, "catalog_id": _nobodys("cat", chance)}) for _ in range(calls)
        ]
        yield _compared(stage, tool, "catalog", pairs)
    for tool in OF_DOCUMENT:
        foreign = required(stage, tool, stage.attacker.catalog_id)
        pairs = [
            (foreign, {**foreign, "document_id": _nobodys("doc", chance)}) for _ in range(calls)
        ]
        yield _compared(stage, tool, "document", pairs)


def _compared(
    stage: Stage, tool: str, what: str, pairs: Sequence[tuple[Mapping[str, object], ...]]
) -> Comparison:
    took: tuple[list[float], list[float]] = ([], [])
    for arguments in pairs[0]:
        _timed(stage, tool, arguments)  # the first call of a process takes longer
    for number, pair in enumerate(pairs):
        for which in (0, 1) if number % 2 else (1, 0):
            took[which].append(_timed(stage, tool, pair[which]))
    return Comparison(tool=tool, what=what, foreign=took[0], absent=took[1])


def _timed(stage: Stage, tool: str, arguments: Mapping[str, object]) -> float:
    began = time.perf_counter()
    stage.wire.call(TOOLS[tool], arguments, token=stage.token)
    return (time.perf_counter() - began) * 1000


def _nobodys(kind: str, chance: random.Random) -> str:
    return f"{kind}-{chance.getrandbits(96):024x}"
