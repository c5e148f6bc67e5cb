"""Who asks in the local mode."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest

from stackroom.errors import ValidationError
from stackroom.model.keys import catalog_id_of
from stackroom_cli import callers
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


def test_a_renamed_catalog_is_asked_by_either_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = Asker(site=an_instance(tmp_path), user="alice")
    first = catalog_id_of("alice", "handbook")
    listed = SimpleNamespace(catalog_id=first, catalog_name="Rules")
    monkeypatch.setattr(Asker, "client", SimpleNamespace(catalogs=lambda: [listed]))
    monkeypatch.setattr(callers, "user_of", lambda _site, _token: "alice")

    assert [asker.catalog_id(name) for name in ("Handbook", "rules", first)] == [first] * 3
    with pytest.raises(ValidationError, match="'alice' has no catalog 'ants'; there are: 'Rules'"):
        asker.catalog_id("ants")
