"""Whether a delivery of a webhook is Stackroom's, by https://www.standardwebhooks.com."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping

from stackroom_client.answers import Event, made
from stackroom_client.errors import WebhookNotVerified

_WITHIN = 300.0  # seconds, before and after


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    now: Callable[[], float] = time.time,
) -> Event:
    """
    The event; `body` is what came, byte for byte. Raises WebhookNotVerified.

    A delivery comes at least once: whoever keeps the `id` of what came knows it again.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id_, at, signed = (given[f"webhook-{each}"] for each in ("id", "timestamp", "signature"))
        is_now = abs(now() - int(at)) <= _WITHIN
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError) as error:  # binascii.Error is one
        raise WebhookNotVerified(f"no delivery, or no secret, of a webhook: {error}") from error
    if not key:  # with which anybody could sign
        raise WebhookNotVerified("the secret is empty")
    if not is_now:
        raise WebhookNotVerified(f"it was signed at {at}, which is not now")
    digest = hmac.digest(key, f"{id_}.{at}.".encode() + body, hashlib.sha256)
    wanted = "v1," + base64.b64encode(digest).decode()
    # While a secret is being changed there is a signature by each.
    if not any(hmac.compare_digest(wanted.encode(), each.encode()) for each in signed.split()):
        raise WebhookNotVerified("it is not signed with this secret")
    try:
        return made(Event, json.loads(body))
    except (ValueError, TypeError, AttributeError) as error:
        raise WebhookNotVerified(f"what is signed is no event: {error}") from error
