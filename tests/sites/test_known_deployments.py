"""The file of deployments: kept whole or not at all, for its owner alone."""

import errno
import os
import stat
from pathlib import Path

import pytest

from stackroom_cli.sites.known_deployments import KnownDeployments, write
from stackroom_cli.sites.site import AwsSite
from stackroom_cli.sites.site_errors import NotKept


def test_kept_deployment_is_found_later_and_replaced_by_one_of_its_name(
    deployments: KnownDeployments, site: AwsSite
) -> None:
    moved = site.model_copy(update={"mcp_url": "https://another.example/mcp"})

    deployments.keep(site)
    first = KnownDeployments(deployments.folder).named("prod")
    deployments.keep(moved)

    assert first == site
    assert deployments.all() == [moved]


def test_deployment_files_are_private_and_forgetting_removes_the_sign_in(
    deployments: KnownDeployments, site: AwsSite
) -> None:
    deployments.keep(site)
    write(deployments.sign_in_of("prod"), b"{}")
    modes = [stat.S_IMODE(each.stat().st_mode) for each in deployments.folder.rglob("*.json")]

    deployments.forget("prod")

    assert modes == [0o600, 0o600]
    assert (deployments.all(), deployments.sign_in_of("prod").exists()) == ([], False)


def test_full_disk_leaves_the_previous_file_in_place(
    deployments: KnownDeployments, site: AwsSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployments.keep(site)

    def full(_draft: Path, _file: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(NotKept, match="No space left on device; repair it"):
        deployments.keep(site.model_copy(update={"name": "other"}))

    assert deployments.all() == [site]
    assert [each.name for each in deployments.folder.iterdir()] == ["deployments.json"]


@pytest.mark.parametrize("text", ["[]", '{"version": 2, "deployments": []}', "{"])
def test_a_file_of_somebody_elses_is_not_written_over(
    deployments: KnownDeployments, site: AwsSite, text: str
) -> None:
    write(deployments.folder / "deployments.json", text.encode())

    with pytest.raises(NotKept, match="this version of stackroom can't read it"):
        deployments.keep(site)

    assert (deployments.folder / "deployments.json").read_text() == text
