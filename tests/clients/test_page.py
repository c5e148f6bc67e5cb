"""docs/clients.md has each client once: in its table, and above a block that a test runs."""

import re
from pathlib import Path

import pytest

from tests.clients.clients import CLIENTS, INSPECTOR, REQUIREMENTS, Client
from tests.clients.page import BEFORE, PAGE, blocks, named

NAMES = [client.name for client in CLIENTS]


def test_every_client_has_a_row_and_one_block_and_no_block_is_nobodys() -> None:
    assert named() == NAMES
    assert [block.heading for block in blocks()] == [BEFORE, *NAMES]


def test_every_block_is_of_a_language_that_is_run() -> None:
    assert {block.language for block in blocks()} == {"bash", "python"}


@pytest.mark.parametrize(
    "pinned", [each for each in CLIENTS if each.package and each.environment], ids=lambda c: c.name
)
def test_what_is_installed_is_what_the_page_says(pinned: Client) -> None:
    [section] = re.findall(
        rf"^### {re.escape(pinned.name)}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
    )
    [block] = [each for each in blocks() if each.heading == pinned.name]

    if pinned.environment == INSPECTOR.name:
        assert f"npx --yes {pinned.package}@{pinned.version} " in block.text
    else:
        asked = re.findall(r"`pip install ([^`]+)`", section)[0].replace('"', "").split()
        wanted = (REQUIREMENTS / f"{pinned.environment}.in").read_text("utf-8").splitlines()
        assert asked
        assert set(asked) <= set(wanted)
        assert pinned.package in {re.split(r"[=<>]", each)[0].replace(".", "-") for each in asked}


@pytest.mark.parametrize(
    "lock",
    [*sorted(REQUIREMENTS.glob("*.lock")), INSPECTOR / "package-lock.json"],
    ids=lambda path: path.name,
)
def test_no_lock_says_where_its_packages_come_from(lock: Path) -> None:
    text = lock.read_text("utf-8")

    assert "--hash=sha256:" in text or '"integrity": "sha512-' in text
    assert not re.search(r'"resolved"|index-url|@ https?:', text)
