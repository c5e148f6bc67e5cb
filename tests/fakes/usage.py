"""What users have used, in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.quota.usage import Used, UsedBy, month_of
from tests.fakes.disturbed import Disturbed


@dataclass
class FakeUsage(Disturbed):
    kept: dict[tuple[str, str, str], Used] = field(default_factory=dict)

    def add(self, user_id: str, catalog_id: str, used: Used, *, at: datetime) -> None:
        key = (month_of(at), user_id, catalog_id)
        self.kept[key] = self.kept.get(key, Used()) + used

    def of_month(self, month: str, *, user_id: str | None = None) -> Iterable[UsedBy]:
        return [
            UsedBy(user_id=user, catalog_id=catalog_id, used=used)
            for (there, user, catalog_id), used in sorted(self.kept.items())
            if there == month and user_id in (None, user)
        ]
