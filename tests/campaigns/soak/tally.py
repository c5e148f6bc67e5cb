"""What a soak did: counted, and line by line in a journal; and how long recoveries took."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tally:
    journal: Path
    done: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)  # that the simulator injected
    # In seconds, after what: until it serves again, until what was put before is searchable.
    restarts: list[tuple[float, str]] = field(default_factory=list)
    recoveries: list[tuple[float, str]] = field(default_factory=list)
    failed_starts: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str, on: str = "") -> None:
        with self._lock:
            self.done[what] += 1
        self.note(f"{what}: {on}")

    def disagree(self, told: str) -> None:
        with self._lock:
            self.disagreements.append(told)
        self.note(told)

    def note(self, text: str) -> None:
        with self._lock, self.journal.open("a") as journal:
            journal.write(f"{time.strftime('%H:%M:%S')}  {text}\n")

    def told(self) -> str:
        """The counts, a line for each group."""
        lines = {
            "acts": _listed(self.done),
            "kills": _listed(self.kills),
            "faults": _listed(self.faults),
            "starts that failed": str(len(self.failed_starts)),
            "slowest restart": _slowest(self.restarts),
            "slowest recovery": _slowest(self.recoveries),
            "disagreements": str(len(self.disagreements)),
        }
        return "\n".join(f"{name:<20} {value}" for name, value in lines.items())


def _slowest(times: list[tuple[float, str]]) -> str:
    seconds, what = max(times, default=(0.0, "nothing"))
    return f"{seconds:.1f} s, after the kill of {what}"


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counted.items())) or "none"
