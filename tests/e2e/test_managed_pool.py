"""A local mode whose pool is of MANAGED knowledge bases, from a dropped file to its receipt."""

from collections.abc import Iterator

import pytest

from stackroom.model import DataSourceType
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import local_mode, stackroom


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    context = ("-c", "knowledge_base_type=managed")
    with local_mode(tmp_path_factory.mktemp("managed") / "state", *context) as running:
        yield running


@pytest.fixture(scope="module")
def host(instance: Instance) -> Person:
    """With more catalogs than a knowledge base of the other type has places for."""
    host = Person(instance, "host")
    files = {f"room {number}/a.txt": f"Room {number} has a piano." for number in range(6)}
    host.settle(host.put_all(files))
    return host


def test_every_catalog_has_a_data_source_of_its_own(host: Person) -> None:
    catalogs = [host.catalog(f"room {number}") for number in range(6)]

    assert {each.data_source_type for each in catalogs} == {DataSourceType.S3}
    assert len({each.data_source_id for each in catalogs}) == 6


def test_a_file_is_found_by_its_owner_alone_with_nothing_that_the_store_notes(
    instance: Instance, host: Person
) -> None:
    stranger = Person(instance, "stranger")

    [found] = host.find("a piano", catalog_id=host.catalog("room 3").catalog_id)

    assert found["content"] == "Room 3 has a piano."
    assert found["source"]["uri"].endswith("/host/room 3/a.txt")
    assert found["metadata"].keys() == {"uploaded_at"}
    assert stranger.find("a piano") == []


def test_a_replaced_file_is_found_as_it_is_now_and_deleted_with_a_receipt(
    instance: Instance, host: Person
) -> None:
    host.settle([host.put("room 5/a.txt", "Room 5 has a harp.")])
    catalog_id = host.catalog("room 5").catalog_id
    replaced = [each["content"] for each in host.find("an instrument", catalog_id=catalog_id)]

    deleted = stackroom("delete", "host/room 5/a.txt", state_dir=instance.state_dir)

    assert replaced == ["Room 5 has a harp."]
    assert deleted.returncode == 0, deleted.stderr
    assert "unsearchable since 20" in " ".join(deleted.stdout.split())
    assert host.find("an instrument", catalog_id=catalog_id) == []


def test_the_pool_and_the_audit_know_managed_knowledge_bases(
    instance: Instance, host: Person
) -> None:
    pool = stackroom("status", "--pool", state_dir=instance.state_dir)
    audit = stackroom("reconcile", state_dir=instance.state_dir)

    assert "6 of 199" in " ".join(pool.stdout.split())
    assert (audit.returncode, audit.stderr) == (0, "")
    assert "found nothing" in audit.stdout
