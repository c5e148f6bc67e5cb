"""
A real browser at the console of the one local mode that all tests share (conftest.py).

One Chromium for all files that a worker has: while Playwright is at work, nothing else in its
thread can use asyncio, and tests of other suites do.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from stackroom_local.state import Instance
from tests.browser.chromium import started
from tests.browser.looks import Looks
from tests.browser.visitors import PATIENCE, Visitor, arrive, sign_in

SignedIn = Callable[..., Visitor]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with started() as running:
        yield running


@pytest.fixture
def signed_in(chromium: Browser, instance: Instance) -> Iterator[SignedIn]:
    """`signed_in("alice", "operators")`: each in a browser of their own, closed with the test."""
    visitors: list[Visitor] = []

    def one(name: str, *groups: str) -> Visitor:
        visitor = arrive(chromium, instance, name)
        visitors.append(visitor)
        sign_in(visitor, groups=groups)
        return visitor

    yield one
    for each in visitors:
        each.page.context.close()


@pytest.fixture
def stranger(chromium: Browser, instance: Instance) -> Iterator[Visitor]:
    """Somebody who hasn't signed in."""
    visitor = arrive(chromium, instance, "nobody")
    yield visitor
    visitor.page.context.close()


@pytest.fixture
def looks() -> Looks:
    return Looks.asked_for()
