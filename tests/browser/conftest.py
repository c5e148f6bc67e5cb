"""
A real browser at the console of the one local mode that all tests share (tests/conftest.py).

One Chromium for each file: while Playwright is at work, nothing else in its thread can use asyncio,
and other tests of the same worker do.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from stackroom_local.state import Instance
from tests.browser.attempts import Attempts
from tests.browser.chromium import started
from tests.browser.looks import Looks
from tests.browser.stage import Stage
from tests.browser.visitors import PATIENCE, Visitor, arrive, sign_in

SignedIn = Callable[..., Visitor]
NewAttempts = Callable[[str], Attempts]


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="session")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Looks:
    return Looks.kept_in(tmp_path_factory.mktemp("screenshots"))


@pytest.fixture
def attempts(record_property: Callable[[str, object], None]) -> NewAttempts:
    """`attempts("clickjacking")`, by what is told at the end of the run."""
    return lambda what: Attempts(what, record_property)


@pytest.fixture
def stage(
    request: pytest.FixtureRequest, inhabitant: Visitor, looks: Looks, tmp_path: Path
) -> Iterator[Stage]:
    """Of the module's `inhabitant`, who has what its pages are to show."""
    stage = Stage(visitor=inhabitant, looks=looks, folder=tmp_path)
    yield stage
    shown = request.node.get_closest_marker("shows")
    assert set(shown.args) <= set(stage.looked_at), "it says that it looks at more than it does"
