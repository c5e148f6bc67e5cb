"""Attempts against the console, and which of them succeeded."""

from dataclasses import dataclass, field


@dataclass
class Attempts:
    tried: int = 0
    successes: list[str] = field(default_factory=list)

    def note(self, told: str, *, got_in: bool) -> None:
        """One attempt; `told` says which, if it got in."""
        self.tried += 1
        if got_in:
            self.successes.append(told)

    def none_succeeded(self, *, least: int) -> None:
        """`least` keeps a test from proving nothing because it tried nothing."""
        assert self.tried >= least, f"tried {self.tried}, fewer than {least}"
        assert self.successes == [], "\n".join(self.successes)
