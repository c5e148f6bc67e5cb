"""A delivery is believed if it is signed with the secret, and now."""

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


def test_a_delivery_that_is_signed_is_its_event() -> None:
    event = verify_webhook(BODY, signed(), SECRET, now=lambda: NOW + 299)

    assert (event.id, event.detail_type, event.detail) == (
        "evt-1",
        "Document State Changed",
        {"state": "indexed"},
    )


def test_while_a_secret_is_changed_either_signature_will_do() -> None:
    other = signed(secret="whsec_bm90IHRoaXMgb25l")["Webhook-Signature"]
    both = {"Webhook-Signature": f"{other} v2,x {signed()['Webhook-Signature']}"}

    assert verify_webhook(BODY, {**signed(), **both}, SECRET, now=lambda: NOW).id == "evt-1"


def test_signature_matches_the_standards_example() -> None:
    """Its own vector, of the tests of its libraries; what it signs is no event of ours."""
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": str(NOW),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }

    with pytest.raises(WebhookNotVerified, match="what is signed is no event"):
        verify_webhook(b'{"test": 2432232314}', headers, SECRET, now=lambda: NOW)


@pytest.mark.parametrize(
    ("body", "headers", "secret", "told"),
    [
        (BODY + b" ", signed(), SECRET, "not signed with this secret"),
        (BODY, signed(), "whsec_bm90IHRoaXMgb25l", "not signed with this secret"),
        (BODY, {**signed(), "Webhook-Id": "msg_2"}, SECRET, "not signed with this secret"),
        (BODY, {**signed(), "Webhook-Signature": "v1,é"}, SECRET, "not signed with this secret"),
        (BODY, {**signed(), "Webhook-Id": "\udcff"}, SECRET, "not signed with this secret"),
        (BODY, {**signed(), "Webhook-Signature": "\udcff"}, SECRET, "not signed with this secret"),
        (BODY, signed(at=NOW - 301), SECRET, "which is not now"),
        (BODY, signed(at=NOW + 301), SECRET, "which is not now"),
        (BODY, {**signed(), "Webhook-Timestamp": str(NOW + 1)}, SECRET, "not signed"),
        (BODY, {**signed(), "Webhook-Timestamp": "nan"}, SECRET, "no delivery"),
        (BODY, {}, SECRET, "no delivery"),
        (BODY, signed(secret="whsec_"), "whsec_", "the secret is empty"),
    ],
    ids=[
        "body",
        "secret",
        "id",
        "bytes",
        "no-utf8-id",
        "no-utf8-signature",
        "replayed",
        "early",
        "time",
        "nan",
        "nothing",
        "empty",
    ],
)
def test_forged_changed_or_replayed_delivery_is_refused(
    body: bytes, headers: dict[str, str], secret: str, told: str
) -> None:
    with pytest.raises(WebhookNotVerified, match=told):
        verify_webhook(body, headers, secret, now=lambda: NOW)
