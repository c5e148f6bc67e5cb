"""The authorization server's store: bounded, readable by its owner alone, and without tokens."""

import logging
import stat
from pathlib import Path

import pytest

from stackroom_local.gateway.session_store import (
    GRACE_SECONDS,
    REFRESH_SECONDS,
    SessionStore,
    SignInSession,
)


def a_session(
    name: str = "s-1", user: str = "alice", signed_in_at: int = 1_000_000
) -> SignInSession:
    return SignInSession(
        id=name,
        client_id="stackroom-local",
        user=user,
        groups=("staff",),
        scopes=("openid",),
        signed_in_at=signed_in_at,
    )


def opened(directory: Path, now: float = 1_000_000) -> SessionStore:
    sign_ins = SessionStore.open(directory)
    sign_ins.now = lambda: now
    return sign_ins


def test_exchanged_token_ends_its_session_after_the_grace_period(tmp_path: Path) -> None:
    sign_ins = opened(tmp_path)
    first = sign_ins.begin(a_session())
    second = sign_ins.renewed(first)

    again = opened(tmp_path, now=1_000_000 + GRACE_SECONDS)

    for token in ("", ".", "unknown.token", "a" * 100_000):
        assert again.session(token) is None
    found = again.session(second)
    assert found
    assert (found.id, found.user, found.groups) == ("s-1", "alice", ("staff",))
    assert again.session(first) is None
    assert again.session(second) is None


def test_session_ends_a_month_after_sign_in_whatever_refreshes_it_had(
    tmp_path: Path,
) -> None:
    sign_ins = opened(tmp_path)
    token = sign_ins.renewed(sign_ins.begin(a_session(signed_in_at=1_000_000)))

    last = opened(tmp_path, now=1_000_000 + REFRESH_SECONDS - 1).session(token)
    after = opened(tmp_path, now=1_000_000 + REFRESH_SECONDS).session(token)

    assert last is not None
    assert after is None


def test_file_is_readable_by_its_owner_only_and_holds_no_token(tmp_path: Path) -> None:
    sign_ins = opened(tmp_path)
    token = sign_ins.begin(a_session())

    (file,) = tmp_path.iterdir()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in file.read_text()
    assert token.partition(".")[2] not in file.read_text()


@pytest.mark.parametrize("text", ["", '{"sessions": []}', '{"from": "a later release"}'])
def test_unreadable_session_file_makes_everybody_sign_in_again(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sign-ins.json").write_text(text)

    with caplog.at_level(logging.WARNING):
        sign_ins = opened(tmp_path)

    assert list(sign_ins.users()) == []
    assert "everybody signs in again" in caplog.text
    assert sign_ins.session(sign_ins.begin(a_session()))
