"""What users have used, in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.quota.usage import Used, UsedBy, month_of
from tests.fakes.disturbed import Disturbed


@dataclass
class FakeUsage(Disturbed):
    kept: dict[tuple[str, str, str, str], Used] = field(default_factory=dict)

    def add(
        self, user_id: str, catalog_id: str, used: Used, *, at: datetime, model: str = ""
    ) -> None:
        key = (month_of(at), user_id, catalog_id, model)
        self.kept[key] = self.kept.get(key, Used()) + used

    def of_month(
        self, month: str, *, user_id: str | None = None, after: str | None = None
    ) -> Iterable[UsedBy]:
        for (there, user, catalog_id, model), used in sorted(
            self.kept.items(), key=lambda it: it[0]
        ):
            if there == month and user_id in (None, user) and (after is None or user > after):
                yield UsedBy(user_id=user, catalog_id=catalog_id, model=model, used=used)
