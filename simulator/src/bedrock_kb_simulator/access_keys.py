"""
Access keys of the local mode.

Each state directory has its own root key, and the secrets of all other keys derive from it: without
access to that directory nobody can sign.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of IAM's ids


class AccessKey(BaseModel):
    model_config = ConfigDict(frozen=True)

    access_key_id: str
    secret_access_key: str = Field(repr=False)

    def environment(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
        }


class RootKey(AccessKey):
    """The key of the account's root user, whom IAM's stand-in allows everything."""

    @classmethod
    def kept_in(cls, file: Path) -> Self:
        return cls.model_validate_json(file.read_bytes())

    @classmethod
    def make(cls, file: Path) -> None:
        """Create the key in a file readable by its owner alone, unless the file exists."""
        if not file.exists():
            key = cls(access_key_id=new_id("AKIA"), secret_access_key=secrets.token_hex(20))
            write_private(file, key.model_dump_json().encode())

    @classmethod
    def of_environment(cls) -> Self:
        """Return the key in the server's environment."""
        return cls(
            access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
            secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        )

    def secret_of(self, access_key_id: str) -> str:
        if access_key_id == self.access_key_id:
            return self.secret_access_key
        return self._derive("secret", access_key_id)[:40]

    def token_of(self, access_key_id: str) -> str:
        """Return the session token of a role's temporary key."""
        return self._derive("token", access_key_id)

    def _derive(self, kind: str, access_key_id: str) -> str:
        message = f"{kind}:{access_key_id}".encode()
        return hmac.new(self.secret_access_key.encode(), message, hashlib.sha256).hexdigest()


def new_id(prefix: str) -> str:
    """Return an id: AKIA for a user's key, ASIA for a session's [IAM: reference_identifiers]."""
    return prefix + "".join(secrets.choice(_LETTERS) for _ in range(16))


def write_private(file: Path, content: bytes) -> None:
    """Write a file atomically, readable by its owner alone."""
    draft = file.with_name(f"{file.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
