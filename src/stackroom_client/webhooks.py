"""Verification of webhook deliveries, by https://www.standardwebhooks.com."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping

from stackroom_client.answers import Event, from_fields
from stackroom_client.errors import WebhookNotVerified

_TOLERANCE = 300.0  # seconds, before and after


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    now: Callable[[], float] = time.time,
) -> Event:
    """
    Return the event of a delivery with this unchanged `body`. Raises WebhookNotVerified.

    A delivery may arrive more than once: compare the event's `id` to recognise it.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id_, at, signed = (
            given[f"webhook-{each}"].encode(errors="surrogatepass")  # which some servers pass on
            for each in ("id", "timestamp", "signature")
        )
        signed_at = int(at)
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError) as error:  # binascii.Error is one
        raise WebhookNotVerified(f"the delivery or the secret is invalid: {error}") from error
    if not key:  # anybody could sign with it
        raise WebhookNotVerified("the secret is empty")
    if abs(now() - signed_at) > _TOLERANCE:
        raise WebhookNotVerified(f"the delivery was signed at {signed_at}, too long ago or ahead")
    digest = hmac.digest(key, b".".join((id_, at, body)), hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    # While a secret is being replaced, there is a signature by each.
    if not any(hmac.compare_digest(expected, each) for each in signed.split()):
        raise WebhookNotVerified("the delivery is not signed with this secret")
    try:
        return from_fields(Event, json.loads(body))
    except (ValueError, TypeError, AttributeError) as error:
        raise WebhookNotVerified(f"the delivery is not an event: {error}") from error
