"""
Access keys of the local mode. Each state directory has a root's key of its own, and whoever can't
read that directory can sign nothing: the secret of every other key follows from the root's.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of an id, as IAM draws them


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
    """The account's root, whom IAM's stand-in allows everything."""

    @classmethod
    def kept_in(cls, file: Path) -> Self:
        return cls.model_validate_json(file.read_bytes())

    @classmethod
    def make(cls, file: Path) -> None:
        """Unless it is there already; for its owner alone."""
        if not file.exists():
            made = cls(access_key_id=new_id("AKIA"), secret_access_key=secrets.token_hex(20))
            write_private(file, made.model_dump_json().encode())

    @classmethod
    def of_environment(cls) -> Self:
        """That of a server, as whoever started it says."""
        return cls(
            access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
            secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        )

    def secret_of(self, access_key_id: str) -> str:
        if access_key_id == self.access_key_id:
            return self.secret_access_key
        return self._following("secret", access_key_id)[:40]

    def token_of(self, access_key_id: str) -> str:
        """That of a role's session."""
        return self._following("token", access_key_id)

    def _following(self, kind: str, access_key_id: str) -> str:
        told = f"{kind}:{access_key_id}".encode()
        return hmac.new(self.secret_access_key.encode(), told, hashlib.sha256).hexdigest()


def new_id(prefix: str) -> str:
    """AKIA is a user's, ASIA a session's [IAM user guide: reference_identifiers]."""
    return prefix + "".join(secrets.choice(_LETTERS) for _ in range(16))


def write_private(file: Path, content: bytes) -> None:
    """Whole or not at all, and for its owner alone."""
    draft = file.with_name(f"{file.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
