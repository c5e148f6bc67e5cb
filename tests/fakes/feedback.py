"""Feedback on answers, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from stackroom.catalogs.feedback import Feedback


@dataclass
class FakeFeedback:
    kept: dict[tuple[str, str], Feedback] = field(default_factory=dict)

    def of_user(self, user_id: str) -> Iterator[Feedback]:
        return (each for (owner, _), each in sorted(self.kept.items()) if owner == user_id)

    def keep(self, feedback: Feedback) -> None:
        self.kept[feedback.user_id, feedback.id] = feedback

    def forget(self, feedback: Feedback) -> None:
        self.kept.pop((feedback.user_id, feedback.id), None)
