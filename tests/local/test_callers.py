"""Who asks in the local mode."""

import time
from pathlib import Path
from typing import Any

import jwt
import pytest

from stackroom_cli.callers import Asker
from stackroom_cli.failures import WrongUsage
from tests.local.running import ON_AWS, an_instance


def test_token_lasts_for_days_of_following(tmp_path: Path) -> None:
    asker = Asker(site=an_instance(tmp_path), user="alice")

    claims = jwt.decode(asker.token, options={"verify_signature": False})

    assert claims["sub"] == "alice"
    assert claims["exp"] > time.time() + 7 * 86_400


@pytest.mark.parametrize("whom", [{"user": "bob"}, {"user": None, "groups": ["sales"]}])
def test_asking_a_deployment_as_another_user_or_group_is_refused(
    whom: dict[str, Any],
) -> None:
    with pytest.raises(WrongUsage, match="as the signed-in user: leave out --user and --group"):
        _ = Asker(site=ON_AWS, **whom).client
