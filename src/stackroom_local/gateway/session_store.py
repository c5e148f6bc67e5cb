"""
The state that outlives a restart of the local authorization server: sessions and redirect URIs.

It is one file of the data directory, mode 0600, written as a whole. It holds no token, only the
SHA-256 of each refresh token. When it is full, the oldest entries are dropped, and such a client
signs in again.
"""

import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from bedrock_kb_simulator.access_keys import write_private

_FILE = "sign-ins.json"
_MAX_SESSIONS = 500
_MAX_REDIRECTS = 200
# Cognito's default: https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-refresh-token.html
REFRESH_SECONDS = 30 * 24 * 3600
# That a refresh token holds after it was exchanged, as in infra/sign_in_settings.py.
GRACE_SECONDS = 60
_MAX_TOKENS = 20  # of a session; the oldest are forgotten

logger = logging.getLogger(__name__)


class SignInSession(BaseModel):
    """One sign-in of one user at one client; a refresh does not prolong it, as in Cognito."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str  # the tokens' origin_jti
    client_id: str
    user: str
    groups: tuple[str, ...]
    scopes: tuple[str, ...]
    resource: str | None = None  # that the client named, and its tokens are for
    signed_in_at: int
    refresh_sha256: dict[str, float] = {}  # until when each refresh token holds

    @property
    def expires_at(self) -> int:
        return self.signed_in_at + REFRESH_SECONDS


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")

    redirects: list[str] = []
    sessions: dict[str, SignInSession] = {}  # by a name that only a refresh token tells


@dataclass(kw_only=True)
class SessionStore:
    path: Path
    now: Callable[[], float] = time.time
    _kept: _Kept = field(default_factory=_Kept)

    @classmethod
    def open(cls, data_dir: Path) -> Self:
        """Load the sessions of a data directory; an unreadable file counts as empty."""
        path = data_dir / _FILE
        if not path.exists():
            return cls(path=path)
        try:
            return cls(path=path, _kept=_Kept.model_validate_json(path.read_bytes()))
        except ValidationError:
            logger.warning("%s can't be read; everybody signs in again", path)
            return cls(path=path)

    def register(self, redirects: Sequence[str]) -> None:
        """Remember redirects; the oldest are dropped first."""
        others = [each for each in self._kept.redirects if each not in redirects]
        self._kept.redirects = [*others, *redirects][-_MAX_REDIRECTS:]
        self._write()

    def redirects(self) -> Sequence[str]:
        return self._kept.redirects

    def begin(self, session: SignInSession) -> str:
        """Begin a session and return its first refresh token."""
        return self._issue(secrets.token_urlsafe(16), session)

    def session(self, refresh_token: str) -> SignInSession | None:
        """
        Return the session of a refresh token, or None if it is no longer valid.

        A token that was exchanged longer ago than the grace period ends its session, because a
        thief may have used it (https://datatracker.ietf.org/doc/html/rfc9700#section-4.14.2).
        Cognito refuses such a token; AWS doesn't say whether it ends the session, too.
        """
        name, session = self._named(refresh_token)
        if session is None:
            return None
        if session.refresh_sha256.get(_sha256(refresh_token), 0.0) <= self.now():
            self._end(name)
            return None
        return session

    def renewed(self, refresh_token: str) -> str:
        """
        Return the next refresh token after one that `session` knows.

        The old one stays valid for the grace period, since an answer may get lost, and so do tokens
        issued for it meanwhile.
        """
        name, session = self._named(refresh_token)
        assert session is not None, "`session` has just found it"
        used, tokens = _sha256(refresh_token), dict(session.refresh_sha256)
        tokens[used] = min(tokens[used], self.now() + GRACE_SECONDS)
        return self._issue(name, session.model_copy(update={"refresh_sha256": tokens}))

    def end(self, session_id: str) -> None:
        """End a session; nothing happens if it has ended."""
        for name in [name for name, each in self._kept.sessions.items() if each.id == session_id]:
            self._end(name)

    def users(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the users who have signed in here with their groups, the last one first."""
        seen = set()
        for session in reversed(self._kept.sessions.values()):
            if session.user not in seen:
                seen.add(session.user)
                yield session.user, session.groups

    def _named(self, refresh_token: str) -> tuple[str, SignInSession | None]:
        name, _, _ = refresh_token.partition(".")
        session = self._kept.sessions.get(name)
        return name, session if session and session.expires_at > self.now() else None

    def _issue(self, name: str, session: SignInSession) -> str:
        token = f"{name}.{secrets.token_urlsafe(32)}"
        tokens = {**session.refresh_sha256, _sha256(token): float(session.expires_at)}
        newest = dict(list(tokens.items())[-_MAX_TOKENS:])
        self._kept.sessions.pop(name, None)  # it becomes the newest
        self._kept.sessions[name] = session.model_copy(update={"refresh_sha256": newest})
        for oldest in list(self._kept.sessions)[:-_MAX_SESSIONS]:
            del self._kept.sessions[oldest]
        self._write()
        return token

    def _end(self, name: str) -> None:
        del self._kept.sessions[name]
        self._write()

    def _write(self) -> None:
        """Write the file; on a full disk the sessions last until the next start."""
        try:
            write_private(self.path, self._kept.model_dump_json(indent=1).encode())
        except OSError as error:
            logger.warning("%s can't be written (%s); make room for it", self.path, error.strerror)


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
