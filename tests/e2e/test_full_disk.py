"""A real disk without room: what was acknowledged is there after a stop."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from stackroom.model.records import DocumentStatus
from stackroom_cli.sites.file_drop import Dropped
from stackroom_local.processes import free_ports
from tests.e2e.people import Agent, Person, eventually
from tests.local.running import instance_of, stackroom, start

pytestmark = pytest.mark.processes

_MEGABYTES = 100  # 64 are reserved, what is deployed takes 5
_NEEDED = "a file system of its own is needed: root, or user namespaces, on Linux (unshare -rm)"


class SmallDisk:
    """In memory; `ballast` is what others have on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def mount(self, how: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", how, "stackroom-test", str(self.path)]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.fail(_NEEDED)

    def leave(self, size: int) -> None:
        """Leave this many bytes free while servers write."""
        with self._ballast.open("ab") as ballast:
            while True:
                ballast.truncate(0)
                usage = os.statvfs(self.path)
                with suppress(OSError):
                    rest = usage.f_bavail * usage.f_frsize - size
                    os.posix_fallocate(ballast.fileno(), 0, rest)
                    return

    def clear(self) -> None:
        self._ballast.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path / "disk")
    disk.path.mkdir()
    disk.mount(f"size={_MEGABYTES}m")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk.path)], check=True)


def test_acknowledged_uploads_survive_a_full_disk(request: pytest.FixtureRequest) -> None:
    if os.geteuid():  # as root of a namespace, who may mount there
        again = [sys.executable, "-m", "pytest", "-n0", "-q", __file__]
        ended = subprocess.run(["unshare", "-rm", *again], check=False, capture_output=True)
        assert ended.returncode == 0, f"{_NEEDED}\n{(ended.stdout + ended.stderr).decode()}"
        return
    disk: SmallDisk = request.getfixturevalue("disk")
    state_dir, port = disk.path / "state", str(free_ports(4))
    up = start(state_dir, "--port", port)
    alice = Person(instance_of(up, state_dir), "alice")

    disk.leave(3 * 2**20)
    taken, refused = dropped_until_refused(alice)
    disk.leave(0)
    Agent(alice.instance, "alice")("create_catalog", catalog_name="made on a full disk")
    told = stackroom("doctor", state_dir=state_dir).stdout
    down = stackroom("down", state_dir=state_dir)
    up.end(120)
    full = start(state_dir, "--port", port)
    full.process.wait(120)
    refused_start = full.log.read_text()
    disk.clear()
    up = start(state_dir, "--port", port)
    alice = Person(instance_of(up, state_dir), "alice")
    catalogs = Agent(alice.instance, "alice").text("list_catalogs")
    has_its_status(alice, taken)
    up.ask_to_stop()
    up.end(120)

    assert refused.response["Error"]["Code"] == "InsufficientStorage"
    assert f"The disk of {state_dir} has " in refused.response["Error"]["Message"]
    assert "uploads are refused" in told
    assert down.returncode == 0, down.stderr
    assert "made on a full disk" in catalogs
    assert "free space on its disk" in refused_start


def dropped_until_refused(person: Person) -> tuple[list[Dropped], ClientError]:
    taken = list[Dropped]()
    for number in range(100):
        body = f"<p>Crate {number} has apples.</p><!-- {'-' * 200_000} -->"
        try:
            taken.append(person.put(f"crates/crate {number}.html", body))
        except ClientError as error:
            assert taken, "some fit"
            return taken, error
    raise AssertionError("there was room for more than there is")


def has_its_status(person: Person, taken: list[Dropped]) -> None:
    person.settle(taken)
    records = person.records()
    assert {(records[each.key].status, records[each.key].status_reason) for each in taken} == {
        (DocumentStatus.INDEXED, None)
    }
    eventually(
        lambda: (
            "no discrepancies"
            in stackroom("reconcile", "--dry-run", state_dir=person.instance.state_dir).stdout
        ),
        "nothing is amiss after the reconciler's round",
    )
