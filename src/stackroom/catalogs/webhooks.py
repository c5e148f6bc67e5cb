"""
Webhooks: addresses that receive changes of a user's documents or, for operators, everybody's.

A call is signed as Standard Webhooks says, so that its libraries verify it in any language.
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hmac
import json
import random
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import AwareDatetime, Field

from stackroom.catalogs.guarded_post import TOO_SLOW, Answer
from stackroom.clock import Deadline, utc_now
from stackroom.errors import LimitReached, MalformedEvent
from stackroom.model.records import Record

OPERATORS = "*"  # is told of all users; no user is called that [stackroom.model.keys]
MOST_WEBHOOKS = 10  # of an owner: each of them costs a message and a call for each change


class WebhookType(StrEnum):
    """The type of a webhook's events: the first word of their `detail-type`."""

    DOCUMENT = "document"
    CATALOG = "catalog"
    DELETION = "deletion"
    CAP = "cap"


class Webhook(Record):
    id: str = Field(default_factory=lambda: f"wh-{secrets.token_hex(12)}")
    owner: str  # a user's id, or OPERATORS
    url: str
    types: tuple[WebhookType, ...] = tuple(WebhookType)
    created_at: AwareDatetime = Field(default_factory=utc_now)

    def takes(self, detail_type: str) -> bool:
        return detail_type.partition(" ")[0].lower() in self.types


class WebhookCall(Record):
    """A message of the queue: tell that webhook of an event, which is in EventBridge's envelope."""

    webhook_id: str
    event: dict[str, Any]


class Webhooks(Protocol):
    def of(self, owner: str) -> list[Webhook]:
        """Return the user's webhooks and those of operators."""

    def all(self) -> list[Webhook]: ...

    def add(self, webhook: Webhook) -> None: ...

    def remove(self, webhook: Webhook) -> None:
        """Remove the webhook, if it exists."""


class WebhookQueue(Protocol):
    def put(self, call: WebhookCall, *, record: str) -> None:
        """Queue the call behind all others to the webhook about the same record."""


def add_webhook(webhooks: Webhooks, webhook: Webhook) -> None:
    """Add a webhook. Raises LimitReached."""
    if sum(each.owner == webhook.owner for each in webhooks.of(webhook.owner)) >= MOST_WEBHOOKS:
        raise LimitReached(
            "Webhook",
            MOST_WEBHOOKS,
            f"Maximum webhook limit ({MOST_WEBHOOKS}) reached; remove one first",
        )
    webhooks.add(webhook)


def secret_of(webhook_id: str, *, key: str) -> str:
    """
    Return the secret that signs the webhook's calls, in the form that receivers get. It is not
    stored: each is derived from `key`, which is the deployment's.
    """
    derived = hmac.digest(key.encode(), f"webhook {webhook_id}".encode(), "sha256")
    return f"whsec_{base64.b64encode(derived).decode()}"


def signature_headers(body: bytes, *, event_id: str, at: datetime, secret: str) -> dict[str, str]:
    """
    Return the headers that sign a call. A receiver refuses calls older than five minutes, and
    recognises a repetition by its id.
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    seconds = str(int(at.timestamp()))
    signed = f"{event_id}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{signature}",
    }


# Call a webhook with an event, and again until the call succeeds, for about a day.

Post = Callable[[str, bytes, Mapping[str, str]], Answer]

_FIRST, _LONGEST = 10, 3600  # seconds
_JITTER = 0.1
# The pause of a webhook that was too slow: with a thousand events to deliver, it would delay
# everybody else's by ten seconds each.
_REST = 30.0
PUT_OFF = Answer(problem="put off")


def pause_after(tries: int) -> float:
    """
    Return the seconds to wait after so many tries: 10, 20, 40 ... 2,560, and an hour from then on,
    up to a tenth more.

    With 33 tries, which the queue gives a message, the last is about a day after the first.
    """
    whole = min(_FIRST * 2.0 ** (tries - 1), _LONGEST)
    return whole * (1 + random.uniform(0, _JITTER))  # noqa: S311 - that not all come at once


@dataclass(frozen=True, kw_only=True)
class WebhookCalls:
    """Calls webhooks. `key` is the deployment's, from which the webhooks' secrets are derived."""

    webhooks: Webhooks
    post: Post
    key: str
    now: Callable[[], datetime] = utc_now
    _resting: dict[str, Deadline] = field(default_factory=dict)

    def make(self, call: WebhookCall) -> Answer | None:
        """
        Make the call; return None if the event's owner has no such webhook (any more). Raises
        MalformedEvent.
        """
        webhook = self._webhook(call)
        if webhook is None:
            return None
        if webhook.id in self._resting and not self._resting[webhook.id].has_passed:
            return PUT_OFF
        body = json.dumps(call.event, separators=(",", ":")).encode()
        signed = signature_headers(
            body,
            event_id=str(call.event["id"]),
            at=self.now(),
            secret=secret_of(webhook.id, key=self.key),
        )
        headers = {"Content-Type": "application/json", "User-Agent": "Stackroom-Webhooks/1"}
        answer = self.post(webhook.url, body, {**headers, **signed})
        if answer == TOO_SLOW:
            self._resting[webhook.id] = Deadline.after(_REST)
        return answer

    def _webhook(self, call: WebhookCall) -> Webhook | None:
        try:
            owner = str(call.event["detail"]["user_id"])
        except (KeyError, TypeError):
            raise MalformedEvent("it tells no user_id") from None
        found = (each for each in self.webhooks.of(owner) if each.id == call.webhook_id)
        return next(found, None)
