"""A sample of `make attack`, in the local mode that all share, and that it sees open doors."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stackroom_local.state import Instance
from tests.campaigns.attack import campaign, conversing, naming, pretending
from tests.campaigns.attack.stage import TOOLS, Stage, staged
from tests.campaigns.attack.wire import Wire
from tests.campaigns.gateways import another_gateway, changed_functions, configuration_of
from tests.campaigns.permissions.scenes import signed_in

SEED = 9
READING = {"list_catalog_documents", "get_indexing_status", "download_from_catalog"}


@pytest.fixture(scope="module")
def stage(instance: Instance) -> Iterator[Stage]:
    cast = {"victim": ("ida", "harbour"), "attacker": ("kim", "sea")}
    with staged(instance, SEED, **cast) as found:
        yield found


def test_no_sampled_attempt_reaches_another_users_data(stage: Stage) -> None:
    every = list(campaign.attempts(stage, SEED))

    tally = campaign.run(stage, campaign.attempts(stage, SEED, share=5))

    assert tally.is_clean, tally.summary()
    assert set(TOOLS) <= set(tally.tools)
    assert len(every) >= 750


def without_owners(function: Mapping[str, Any]) -> dict[str, Any]:
    """Every catalog is everybody's."""
    is_of_catalogs = function["Handler"] == "functions.catalog_tools.handler.handler"
    return {"Handler": "tests.campaigns.attack.broken_function.handler"} if is_of_catalogs else {}


def test_campaign_notices_a_missing_check_of_a_catalogs_owner(stage: Stage) -> None:
    with changed_functions(stage.instance, without_owners):
        # Those that change nothing, for this stage is to be used again.
        reading = [
            each
            for each in naming.foreign_ids(stage, Random(SEED))
            if each.name == "as it is" and each.tool in READING
        ]
        tally = campaign.judge(stage, reading)

    assert len(tally.leaks) == len(READING)


def test_campaign_notices_a_missing_interceptor(stage: Stage, tmp_path: Path) -> None:
    """Nobody sets the headers, nor removes the client's own."""
    changed = {**configuration_of(stage.instance), "interceptor": None}
    with another_gateway(stage.instance, changed, tmp_path) as url:
        believing = replace(stage, wire=Wire(url, stage.wire.http))
        tally = campaign.judge(believing, islice(pretending.spoofed(believing, Random(SEED)), 3))

    assert "tells" in str(tally.leaks)


def test_campaign_notices_a_conversation_shown_to_another_user(stage: Stage) -> None:
    with signed_in(stage.victim.person) as theirs:
        looking = [
            each
            for each in conversing.conversations(replace(stage, pages=theirs), Random(SEED))
            if each.name.startswith("all the victim's: GET")
        ]
        tally = campaign.judge(stage, looking)

    assert len(tally.leaks) == len(looking) == 5
