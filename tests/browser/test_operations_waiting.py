"""Operations: what waits and why, and the pool, as the command line tells them at that moment."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Locator, Page, expect

from stackroom_local.simulator.fault_orders import PATH
from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.looks import Looks
from tests.browser.test_catalogs import make
from tests.e2e.people import eventually
from tests.local.running import stackroom

STUCK = "held-up-for-operators.txt"


@contextmanager
def held_up(instance: Instance, name: str) -> Iterator[None]:
    """Bedrock throttles whoever wants to ingest the file of that name."""
    faults = instance.simulator_endpoint + PATH
    order = {"operation": "IngestKnowledgeBaseDocuments", "kind": "throttle", "times": 10_000}
    told = httpx2.post(faults, json={"faults": [{**order, "where": name}]}, timeout=60)
    assert told.is_success, told.text
    try:
        yield
    finally:
        httpx2.delete(faults, timeout=60)


def told(instance: Instance, *verb: str) -> Any:
    run = stackroom(*verb, "--json", state_dir=instance.state_dir)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def section(page: Page, heading: str) -> Locator:
    return page.get_by_role("region", name=heading)


def test_what_waits_is_shown_with_its_reason_as_status_tells_it(
    signed_in: SignedIn, looks: Looks, instance: Instance, tmp_path: Path
) -> None:
    ursula, olga = signed_in("ursula-of-operations"), signed_in("olga-of-waiting", "operators")
    file = tmp_path / STUCK
    file.write_text("The pilot boat waits off the breakwater.")

    with held_up(instance, STUCK):
        make(ursula, "Breakwaters")
        ursula.page.locator("#files").set_input_files(file)
        expect(ursula.page.locator("#documents")).to_contain_text(STUCK)
        olga.page.get_by_role("link", name="Operations").click()
        row = section(olga.page, "What waits, and why").get_by_role("row", name="Breakwaters")
        expect(row).to_contain_text(f"{ursula.name}/Breakwaters")

        def agree() -> bool:
            found = told(instance, "status", "-u", ursula.name)["documents"]
            stages = Counter(each["stage"] for each in found)
            [(stage, count)] = stages.items()
            cell = row.get_by_role("cell").nth(1)
            return bool(cell.inner_text().startswith(f"{count} {stage}"))

        eventually(agree, "the page tells the stage that status tells")
        looks.check(olga.page, "operations-waiting")
        expect(olga.page.locator("main")).not_to_contain_text("pilot boat")

    # It goes on by itself, and what is shown does, too.
    expect(ursula.page.locator("#documents td .state.indexed")).to_be_visible()
    expect(row).to_have_count(0)
    assert olga.said == []


def test_the_pool_is_as_status_tells_it(signed_in: SignedIn, instance: Instance) -> None:
    page = signed_in("olga-of-pools", "operators").open("/operations")

    members = told(instance, "status", "--pool")["knowledge_bases"]

    pool = section(page, "Knowledge bases and their slots")
    for each in members:
        row = pool.get_by_role("row", name=each["knowledge_base_id"])
        taken = f"{each['own_sources_taken']} of {each['own_sources_most']} taken"
        expect(row).to_contain_text(taken)
