"""
The issuer's public keys: fetched once, kept, and fetched again for a key id that is new.

Cognito rotates its keys and publishes a new one before it signs with it, so a kept set may lack it:
https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
Anybody can put a key id of their own into a token, though, so only so many of them in a minute make
us ask the issuer. `jwt.PyJWKClient` alone would let each fetch delay the next by half a minute, and
with it a key that was rotated in.
"""

import time
from collections import deque
from collections.abc import Callable

import jwt

_KEPT_SECONDS = 3600
_TIMEOUT_SECONDS = 2  # the caller is waiting
_WINDOW_SECONDS = 60
_UNKNOWN_KEYS_PER_WINDOW = 3


class PublishedKeys:
    """`SigningKeys` of a JWKS URL; `now` is a clock in seconds that never goes back."""

    def __init__(self, url: str, *, now: Callable[[], float] = time.monotonic) -> None:
        self._client = jwt.PyJWKClient(url, lifespan=_KEPT_SECONDS, timeout=_TIMEOUT_SECONDS)
        self._now = now
        self._asked: deque[float] = deque(maxlen=_UNKNOWN_KEYS_PER_WINDOW)

    def get_signing_key_from_jwt(self, token: str) -> jwt.PyJWK:
        """
        The key that a token says it is signed with.

        Raises `jwt.PyJWKClientError` for an id that isn't published, its subclass
        `PyJWKClientConnectionError` when the issuer doesn't answer, and `jwt.DecodeError` for what
        is no token.
        """
        key_id = str(jwt.get_unverified_header(token).get("kid", ""))
        key = self._client.match_kid(self._client.get_signing_keys(), key_id)
        if key is None and self._may_ask_again():
            key = self._client.match_kid(self._client.get_signing_keys(refresh=True), key_id)
        if key is None:
            raise jwt.PyJWKClientError(f"the issuer publishes no key {key_id!r}")
        return key

    def _may_ask_again(self) -> bool:
        """Counts the question, also one that the issuer will not answer."""
        now = self._now()
        if len(self._asked) == self._asked.maxlen and now - self._asked[0] < _WINDOW_SECONDS:
            return False
        self._asked.append(now)
        return True
