"""What was tried against the console, counted; and what is printed of it at the end of a run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PROPERTY = "attempts"  # of a test that attacks: what it tried, how often, and how often it got in


@dataclass
class Attempts:
    """`what` is said in the tally: the kind of attack. `record` keeps a property of the test."""

    what: str
    record: Callable[[str, object], None]
    tried: int = 0
    successes: list[str] = field(default_factory=list)

    def note(self, told: str, *, got_in: bool) -> None:
        """One attempt; `told` says which, if it got in."""
        self.tried += 1
        if got_in:
            self.successes.append(told)

    def none_succeeded(self, *, least: int) -> None:
        """`least` keeps a test from proving nothing because it tried nothing."""
        counts = {"what": self.what, "tried": self.tried, "successes": len(self.successes)}
        self.record(PROPERTY, counts)
        assert self.tried >= least, f"{self.what}: tried {self.tried}, fewer than {least}"
        assert self.successes == [], "\n".join(self.successes)


def told(reports: Mapping[str, Iterable[Any]]) -> list[str]:
    """Lines for the terminal, from pytest's reports by outcome; none where nothing was tried."""
    tried: dict[str, list[int]] = {}
    for each in (*reports.get("passed", ()), *reports.get("failed", ())):
        for name, value in getattr(each, "user_properties", ()):
            if name == PROPERTY and each.when == "call":
                counts = tried.setdefault(value["what"], [0, 0])
                counts[0] += value["tried"]
                counts[1] += value["successes"]
    if not tried:
        return []
    return [
        *(_line(what, *counts) for what, counts in sorted(tried.items())),
        _line("attacks on the console", *map(sum, zip(*tried.values(), strict=True))),
    ]


def _line(what: str, tried: int, successes: int) -> str:
    return f"{what}: tried {tried:,}, successes {successes:,}"
