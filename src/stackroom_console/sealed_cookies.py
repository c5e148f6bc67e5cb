"""
Encrypted cookies, which a browser keeps and can neither read nor change [docs/decisions/0022].
"""

import zlib
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Literal, TypeVar

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

# Characters. Browsers keep 4,096 bytes with name and attributes [RFC 6265 6.1], and of the headers
# that an HTTP API takes (console.MAX_HEADERS) the others need the rest.
MAX_COOKIE = 4000


class SealedModel(BaseModel):
    """`kind` keeps what was sealed for one purpose from being opened for another."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: str


class Session(SealedModel):
    """
    A signed-in user's session. `id` is new with each sign-in; `session_id` is the issuer's, as
    tools know it. It expires with the access token that began it, which nobody keeps.
    """

    kind: Literal["session"] = "session"
    id: str
    user_id: str
    groups: tuple[str, ...]
    session_id: str | None
    csrf: str
    begun_at: AwareDatetime
    expires_at: AwareDatetime


class SignInBegun(SealedModel):
    """A sign-in under way: what its answer is held against."""

    kind: Literal["sign-in"] = "sign-in"
    state: str
    nonce: str
    code_verifier: str
    return_to: str
    expires_at: AwareDatetime


ModelT = TypeVar("ModelT", bound=SealedModel)


class Seal:
    """
    Encryption and authentication (Fernet). The first key seals and any key opens, so that keys can
    be replaced: a new one goes first, and the old one after it for as long as a session lasts.

    Texts are compressed, for users in many groups. The length tells nothing of the secrets in them:
    each sealing has secrets of its own, so that nobody can try texts beside the same ones.
    """

    def __init__(self, keys: Sequence[str | bytes]) -> None:
        """Raises ValueError for what is no key as `Fernet.generate_key` makes them."""
        self._fernet = MultiFernet([Fernet(key) for key in keys])

    def close(self, model: SealedModel) -> str:
        packed = zlib.compress(model.model_dump_json().encode(), level=9)
        return self._fernet.encrypt(packed).decode()

    def open(self, text: str | None, kind: type[ModelT]) -> ModelT | None:
        """
        Return the model, or None for a text that isn't ours or is of another kind. Callers check
        its expiry.
        """
        if not text or len(text) > MAX_COOKIE:
            return None
        try:
            packed = self._fernet.decrypt(text.encode())
            return kind.model_validate_json(zlib.decompress(packed))
        except (InvalidToken, ValidationError, UnicodeEncodeError, zlib.error):
            return None


def seal_key(secret: str) -> bytes:
    """Return the text that a deployment keeps as a key for Fernet."""
    derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"stackroom console sessions")
    return urlsafe_b64encode(derivation.derive(secret.encode()))
