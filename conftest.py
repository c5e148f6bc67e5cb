"""
What holds for every suite: which tests are quick, and which share a server when two run at once.

A quick test starts no process, listens on no port and calls none. Nobody lists them: a test is
quick unless it is marked, and one that is neither fails.
"""

import gc
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore.loaders
import pytest
from hypothesis import HealthCheck, settings

from tests.support.process_watch import Watch
from tests.tiers import is_run, path_of

if TYPE_CHECKING:
    from stackroom_local.state import Instance

_ROOT = Path(__file__).parent
# Fixtures that start a server or a process: whoever asks for one is marked.
_SERVERS = frozenset(
    {
        "assembly",
        "chromium",
        "gateway",
        "instance",
        "s3_endpoint",
        "simulated",
    }
)
# In process, and slow all the same: what waits by the real clock, and what draws many examples.
_SLOW = frozenset({"workflow"})
_watch = Watch()

# How long an example takes says how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
# One loader keeps what it has read; botocore makes one for each session, and most tests have one.
botocore.loaders.create_loader = cache(botocore.loaders.create_loader)
# Of the objects that imports make, all stay; to look through them again and again takes a tenth of
# the time (the rest of it: pytest_collection_finish).
gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Instance"]:
    """
    A running local mode at twenty times AWS's speed: endpoints, bucket, MCP URL.

    One for all tests that ask for it: the first four catalogs have data sources of their own, all
    others share one, so no test may ask which its catalogs have.

    With sharing, which changes nothing for a user in no group, and with no bar for answers: what a
    test finds, or not, is to tell what is there. What its functions ask AWS for is
    recorded, beside its state directory.
    """
    # Only where a server is wanted.
    from tests.campaigns.permissions.recorded import recording  # noqa: PLC0415 - see above
    from tests.local.running import ANY_SCORE, local_mode  # noqa: PLC0415 - see above

    folder = tmp_path_factory.mktemp("local-mode")
    with ExitStack() as stack:
        with recording(folder):  # and not of what other tests start while this one runs
            running = stack.enter_context(local_mode(folder / "state", "--sharing", *ANY_SCORE))
        yield running


def pytest_addoption(parser: pytest.Parser) -> None:
    tiers = ("quick", "test", "prove")
    parser.addoption("--tier", choices=tiers, help="only its files (tests/tiers.py)")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What another tier takes is not even imported."""
    tier = config.getoption("--tier")
    is_folder = collection_path.is_dir()
    if tier is None or not (is_folder or collection_path.name.startswith("test_")):
        return None
    files = collection_path.rglob("test_*.py") if is_folder else [collection_path]
    return None if any(is_run(path_of(each, _ROOT), tier) for each in files) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & _SERVERS:
            item.add_marker("processes")
        if path_of(item.path, _ROOT).partition("/")[0] in _SLOW:
            item.add_marker("slow")
        if shared := _shared(item, fixtures):
            item.add_marker(pytest.mark.xdist_group(shared))
    # What takes longest first, so that no worker is left with it alone at the end.
    items.sort(key=lambda item: item.get_closest_marker("processes") is None)


def pytest_collection_finish() -> None:
    gc.freeze()


def _shared(item: pytest.Item, fixtures: set[str]) -> str | None:
    """What is too dear to start in every worker; a module's own `instance` is its own affair."""
    is_shared = "instance" in fixtures and not hasattr(getattr(item, "module", None), "instance")
    return "local-mode" if is_shared else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.support.worker_schedule import ByFile  # noqa: PLC0415 - only where there is xdist

    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with _watch.over(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _watch.over(item):
        return (yield)
