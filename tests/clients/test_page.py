"""docs/clients.md has each client once: in its table, and above a block that a test runs."""

import re
from pathlib import Path

import pytest

from tests.clients.clients import CLIENTS, NPM, REQUIREMENTS, ROOT, Client
from tests.clients.page import BEFORE, blocks, sections, table


def test_every_client_has_its_blocks_and_no_block_is_nobodys() -> None:
    wanted = [BEFORE]
    for client in CLIENTS:
        wanted += [client.name] * (2 if client.signs_in else 1)

    assert [block.heading for block in blocks()] == wanted


def test_the_table_says_which_clients_there_are_and_which_sign_in_by_themselves() -> None:
    signs_in = {name: row[-1].endswith(", or OAuth by itself") for name, row in table().items()}

    assert list(signs_in.items()) == [(client.name, client.signs_in) for client in CLIENTS]


@pytest.mark.parametrize(
    "pinned", [each for each in CLIENTS if each.package and each.environment], ids=lambda c: c.name
)
def test_what_is_installed_is_what_the_page_says(pinned: Client) -> None:
    said = re.findall(r"(?:pip install|npm install|npx --yes) ([^`\n]+)", sections()[pinned.name])
    if pinned.environment == NPM.name:
        wanted = {f"{pinned.package}@{pinned.version}"}
    else:
        wanted = {*(REQUIREMENTS / f"{pinned.environment}.in").read_text("utf-8").splitlines()}

    asked = {word for line in said for word in line.split(" --cli")[0].split()}

    assert asked <= wanted
    assert pinned.package in {
        re.split("[=<>]|(?<=.)@", each)[0].replace(".", "-") for each in asked
    }


@pytest.mark.parametrize(
    "lock",
    [*sorted(REQUIREMENTS.glob("*.lock")), *sorted(ROOT.glob("tests/*/npm/package-lock.json"))],
    ids=lambda path: f"{path.parent.parent.name}-{path.name}",
)
def test_no_lock_says_where_its_packages_come_from(lock: Path) -> None:
    text = lock.read_text("utf-8")

    assert "--hash=sha256:" in text or '"integrity": "sha512-' in text
    assert not re.search(r'"resolved"|index-url|@ https?:', text)
