"""docs/clients.md has each client once: in its table, and above a block that a test runs."""

import re
from pathlib import Path

import pytest

from tests.clients.clients import CLIENTS, INSPECTOR, REQUIREMENTS, Client
from tests.clients.page import BEFORE, PAGE, blocks, table


def test_every_client_has_its_blocks_and_no_block_is_nobodys() -> None:
    wanted = [BEFORE]
    for client in CLIENTS:
        wanted += [client.name] * (2 if client.signs_in else 1)

    assert [block.heading for block in blocks()] == wanted


def test_the_table_says_which_clients_there_are_and_which_sign_in_by_themselves() -> None:
    signs_in = {name: how.endswith(", or OAuth by itself") for name, (_, how) in table().items()}

    assert list(signs_in.items()) == [(client.name, client.signs_in) for client in CLIENTS]


def test_every_block_is_of_a_language_that_is_run() -> None:
    assert {block.language for block in blocks()} == {"bash", "python"}


@pytest.mark.parametrize(
    "pinned", [each for each in CLIENTS if each.package and each.environment], ids=lambda c: c.name
)
def test_what_is_installed_is_what_the_page_says(pinned: Client) -> None:
    [section] = re.findall(
        rf"^### {re.escape(pinned.name)}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
    )

    if pinned.environment == INSPECTOR.name:
        named = [block.text for block in blocks() if block.heading == pinned.name]
        assert all(f"npx --yes {pinned.package}@{pinned.version} " in text for text in named)
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
