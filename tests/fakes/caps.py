"""Users' caps, in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stackroom.model.caps import CapReached, Caps
from tests.fakes.disturbed import Disturbed


@dataclass
class FakeCaps(Disturbed):
    kept: dict[str, Caps] = field(default_factory=dict)
    noted: dict[tuple[str, str, str, int], CapReached] = field(default_factory=dict)

    def all(self) -> Mapping[str, Caps]:
        return dict(self.kept)

    def keep(self, user_id: str, caps: Caps) -> None:
        self.kept[user_id] = caps

    def remove(self, user_id: str) -> None:
        self.kept.pop(user_id, None)

    def note(self, reached: CapReached) -> None:
        key = (reached.user_id, reached.month, reached.cap, reached.percent)
        self.noted.setdefault(key, reached)
