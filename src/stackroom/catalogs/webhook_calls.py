"""Call a webhook with an event, and again until the call succeeds, for about a day."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.catalogs.guarded_post import TOO_SLOW, Answer
from stackroom.catalogs.webhooks import (
    Webhook,
    WebhookCall,
    Webhooks,
    secret_of,
    signature_headers,
)
from stackroom.clock import Deadline, utc_now
from stackroom.errors import MalformedEvent

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
