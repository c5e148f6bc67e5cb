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
        id_, at, signed = (
            given[f"webhook-{each}"].encode(errors="surrogatepass")  # some servers hand on such
            for each in ("id", "timestamp", "signature")
        )
        signed_at = int(at)
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError) as error:  # binascii.Error is one
        raise WebhookNotVerified(f"no delivery, or no secret, of a webhook: {error}") from error
    if not key:  # with which anybody could sign
        raise WebhookNotVerified("the secret is empty")
    if abs(now() - signed_at) > _WITHIN:
        raise WebhookNotVerified(f"it was signed at {signed_at}, which is not now")
    digest = hmac.digest(key, b".".join((id_, at, body)), hashlib.sha256)
    wanted = b"v1," + base64.b64encode(digest)
    # While a secret is being changed there is a signature by each.
    if not any(hmac.compare_digest(wanted, each) for each in signed.split()):
        raise WebhookNotVerified("it is not signed with this secret")
    try:
        return made(Event, json.loads(body))
    except (ValueError, TypeError, AttributeError) as error:
        raise WebhookNotVerified(f"what is signed is no event: {error}") from error
