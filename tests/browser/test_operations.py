"""An operator's look at Operations: what is wrong first, and the way from there to each of it."""

import json

from playwright.sync_api import expect

from stackroom.model.caps import Caps
from stackroom.model.keys import catalog_id_of
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.e2e.people import Person, eventually


def test_an_operator_is_led_to_what_failed_and_sees_what_was_used_of_caps(
    signed_in: SignedIn, instance: Instance
) -> None:
    ada = signed_in("ada-operates", "operators")  # early in a list of users
    page, person = ada.page, Person(instance, ada.name)
    services = SiteServices(instance).use_cases
    services.caps.keep(ada.name, Caps(documents=5))
    person.settle(
        person.put_all({"Moorings/berths.txt": "Berth 5.", "Moorings/berths.dwg": "AC1032"})
    )
    eventually(lambda: services.metering.of_user(ada.name).used.documents, "it is counted")
    run = failed_run(instance, catalog_id_of(ada.name, "Moorings"))

    page.get_by_role("link", name="Operations").click()

    expect(page.locator("#operations h2").first).to_have_text("Needs attention")
    wrong = page.locator(".wrong")
    wrong.get_by_role("link", name="run failed").click()
    expect(page.locator("#runs-title")).to_be_in_viewport()
    runs = page.get_by_role("region", name="Runs")
    row = runs.get_by_role("row").filter(has_text=run.rpartition(":")[2])
    expect(row.locator(".state")).to_have_text("failed")
    expect(row).to_contain_text(f"{ada.name}/Moorings")
    runs.get_by_text("Inspect a run on this machine").click()
    expect(runs.locator("pre")).to_contain_text(f"--execution-arn {run.rpartition(':')[0]}:")
    month = page.get_by_role("region", name="Usage this month")
    expect(month.get_by_role("row").filter(has_text=ada.name)).to_contain_text("2 of 5 documents")

    expect(page.locator("#unusable-title")).to_be_visible()
    page.get_by_role("link", name="berths.dwg").click()
    expect(page.locator("#document .standing")).to_contain_text("File type '.dwg' not supported")
    assert ada.said == []


def failed_run(instance: Instance, catalog_id: str) -> str:
    """One that comes too late for its catalog, which harms nothing; answers its ARN."""
    states = instance.client("stepfunctions")
    [machine] = states.list_state_machines()["stateMachines"]
    arn: str = states.start_execution(
        stateMachineArn=machine["stateMachineArn"],
        name=f"{catalog_id}-0",
        input=json.dumps({"worklist_id": catalog_id, "epoch": 0, "progress": {}}),
    )["executionArn"]
    eventually(
        lambda: states.describe_execution(executionArn=arn)["status"] == "FAILED", "it fails"
    )
    return arn
