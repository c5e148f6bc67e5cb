"""
A real browser at the console of the one local mode that all tests share (tests/conftest.py).

One Chromium for each file: while Playwright is at work, nothing else in its thread can use asyncio,
and other tests of the same worker do.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from stackroom_local.state import Instance
from tests.browser.attempts import Attempts
from tests.browser.chromium import chromium
from tests.browser.looks import Looks
from tests.browser.visitors import PATIENCE, Visitor, arrive, sign_in

SignedIn = Callable[..., Visitor]
NewAttempts = Callable[[str], Attempts]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with chromium() as running:
        yield running


@pytest.fixture
def signed_in(browser: Browser, instance: Instance) -> Iterator[SignedIn]:
    """`signed_in("alice", "operators")`: each in a browser of their own, closed with the test."""
    visitors: list[Visitor] = []

    def one(name: str, *groups: str) -> Visitor:
        visitor = arrive(browser, instance, name)
        visitors.append(visitor)
        sign_in(visitor, groups=groups)
        return visitor

    yield one
    for each in visitors:
        each.page.context.close()


@pytest.fixture
def stranger(browser: Browser, instance: Instance) -> Iterator[Visitor]:
    """Somebody who hasn't signed in."""
    visitor = arrive(browser, instance, "nobody")
    yield visitor
    visitor.page.context.close()


@pytest.fixture(scope="session")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Looks:
    return Looks.kept_in(tmp_path_factory.mktemp("screenshots"))


@pytest.fixture
def attempts(record_property: Callable[[str, object], None]) -> NewAttempts:
    """`attempts("clickjacking")`, by what is told at the end of the run."""
    return lambda what: Attempts(what, record_property)
