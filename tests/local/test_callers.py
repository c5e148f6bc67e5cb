"""Who asks in the local mode."""

import time
from pathlib import Path

import jwt

from stackroom_local.cli.callers import Asker
from tests.local.running import an_instance


def test_a_token_outlasts_whoever_follows_for_days(tmp_path: Path) -> None:
    asker = Asker(site=an_instance(tmp_path), user="alice")

    claims = jwt.decode(asker.token, options={"verify_signature": False})

    assert claims["sub"] == "alice"
    assert claims["exp"] > time.time() + 7 * 86_400
