"""Objects that belong to no catalog are recorded and shown with a reason."""

import re
from pathlib import Path

from stackroom.aws.dynamodb.items import to_item
from stackroom.model.keys import catalog_id_of
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.e2e.people import Person, put
from tests.local.running import stackroom


def test_malformed_record_affects_only_its_own_catalog(instance: Instance) -> None:
    mallory, nora = Person(instance, "mallory"), Person(instance, "nora")
    mallory.settle([put(instance, "mallory/papers/a.txt", "A page among others.")])
    nora.settle([put(instance, "nora/papers/a.txt", "Another page.")])
    table = SiteServices(instance).stores.documents
    key = {"catalog_id": catalog_id_of("mallory", "papers"), "sk": "DOC#broken"}
    table.client.put_item(TableName=table.table, Item=to_item({**key, "status": "sleepy"}))

    try:
        everyones = stackroom("status", state_dir=instance.state_dir)
        hers = stackroom("status", "-u", "mallory", state_dir=instance.state_dir)
        reconciled = stackroom("reconcile", state_dir=instance.state_dir)
    finally:
        table.client.delete_item(TableName=table.table, Key=to_item(key))

    assert re.search(r"indexed\t.*\tnora/papers/a\.txt\t", everyones.stdout)
    for shown in (everyones, hers):
        assert re.search(r"\tmallory/papers/\t.*stackroom reconcile", shown.stdout)
    assert reconciled.returncode == 1
    assert "DOC#broken" in reconciled.stdout


def test_names_of_a_mac_are_found_as_typed_and_its_junk_is_left_out(
    instance: Instance, tmp_path: Path
) -> None:
    mac, typed = "mia/Bu\u0308ro/Ma\u0308rz.txt", "mia/B\u00fcro/M\u00e4rz.txt"
    beside = "mia/B\u00fcro/April.txt"
    dropped = [put(instance, key, f"The text of {key}.") for key in (mac, beside)]
    for junk in ("mia/Bu\u0308ro/.DS_Store", "mia/Bu\u0308ro/._Ma\u0308rz.txt", "mia/.DS_Store"):
        put(instance, junk, "of no interest")
    Person(instance, "mia").settle(dropped)

    (tmp_path / "M\u00e4rz.txt").write_text("Dropped from another machine.", "utf-8")
    again = ("drop", str(tmp_path), "-u", "mia", "-c", "B\u00fcro", "--wait")
    stackroom(*again, state_dir=instance.state_dir)
    assert Person(instance, "mia").records().keys() == {mac, beside}
    twin = put(instance, typed, "another text")
    Person(instance, "mia").settle([twin])
    shown = stackroom("status", "--user", "mia", state_dir=instance.state_dir).stdout
    deleted = ("delete", "-u", "mia", "-c", "B\u00fcro", "M\u00e4rz.txt", "--wait")
    stackroom(*deleted, state_dir=instance.state_dir)

    assert shown.count("indexed\t") == 2
    assert f"its name is that of {mac!r}" in shown
    assert "left out 3 hidden or system files" in shown
    assert mac not in Person(instance, "mia").records()
