"""Verification of webhook deliveries by signature and time."""

import base64
import hashlib
import hmac
import json

import pytest

from stackroom_client import verify_webhook
from stackroom_client.errors import WebhookNotVerified

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1_614_265_330
EVENT = {
    "id": "evt-1",
    "source": "stackroom",
    "detail-type": "Document State Changed",
    "time": "2026-11-26T08:00:00Z",
    "detail": {"state": "indexed"},
}
BODY = json.dumps(EVENT).encode()


def signed(body: bytes = BODY, *, at: int = NOW, secret: str = SECRET) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"msg_1.{at}.".encode() + body, hashlib.sha256)
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def test_signed_delivery_returns_its_event() -> None:
    event = verify_webhook(BODY, signed(), SECRET, now=lambda: NOW + 299)

    assert (event.id, event.detail_type, event.detail) == (
        "evt-1",
        "Document State Changed",
        {"state": "indexed"},
    )


def test_either_signature_is_accepted_while_a_secret_is_replaced() -> None:
    other = signed(secret="whsec_bm90IHRoaXMgb25l")["Webhook-Signature"]
    both = {"Webhook-Signature": f"{other} v2,x {signed()['Webhook-Signature']}"}

    assert verify_webhook(BODY, {**signed(), **both}, SECRET, now=lambda: NOW).id == "evt-1"


def test_signature_matches_the_standards_example() -> None:
    """The standard's own test vector, whose content is not an event of ours."""
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": str(NOW),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }

    with pytest.raises(WebhookNotVerified, match="the delivery is not an event"):
        verify_webhook(b'{"test": 2432232314}', headers, SECRET, now=lambda: NOW)


@pytest.mark.parametrize(
    ("body", "headers", "secret", "message"),
    [
        (BODY + b" ", signed(), SECRET, "not signed with this secret"),
        (BODY, signed(), "whsec_bm90IHRoaXMgb25l", "not signed with this secret"),
        (BODY, {**signed(), "Webhook-Signature": "v1,é"}, SECRET, "not signed with this secret"),
        (BODY, {**signed(), "Webhook-Signature": "\udcff"}, SECRET, "not signed with this secret"),
        (BODY, signed(at=NOW - 301), SECRET, "too long ago or ahead"),
        (BODY, signed(at=NOW + 301), SECRET, "too long ago or ahead"),
        (BODY, {**signed(), "Webhook-Timestamp": "nan"}, SECRET, "is invalid"),
        (BODY, {}, SECRET, "is invalid"),
        (BODY, signed(secret="whsec_"), "whsec_", "the secret is empty"),
    ],
)
def test_forged_changed_or_replayed_delivery_is_refused(
    body: bytes, headers: dict[str, str], secret: str, message: str
) -> None:
    with pytest.raises(WebhookNotVerified, match=message):
        verify_webhook(body, headers, secret, now=lambda: NOW)
