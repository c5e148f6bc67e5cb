"""Webhooks, in memory."""

from dataclasses import dataclass, field

from stackroom.catalogs.webhooks import OPERATORS, Webhook


@dataclass
class FakeWebhooks:
    kept: dict[str, Webhook] = field(default_factory=dict)

    def of(self, owner: str) -> list[Webhook]:
        return [each for each in self.kept.values() if each.owner in (owner, OPERATORS)]

    def all(self) -> list[Webhook]:
        return list(self.kept.values())

    def add(self, webhook: Webhook) -> None:
        self.kept[webhook.id] = webhook

    def remove(self, webhook: Webhook) -> None:
        self.kept.pop(webhook.id, None)
