"""Which functions of others run from this checkout, and what is put together for them."""

import io
import zipfile
from typing import Any

import pytest

from stackroom_local.deployment.function_packages import is_ours, package
from stackroom_local.function_processes.runtime_client import LAYERS


@pytest.mark.parametrize(
    ("config", "ours"),
    [
        ({"Runtime": "python3.13", "Handler": "stackroom_agents.batch_handler.handler"}, True),
        ({"Runtime": "python3.13", "Handler": "index.handler"}, False),
        ({"Runtime": "python3.13", "Handler": "stackroom_agents_of_mine.handler"}, False),
        ({"Runtime": "nodejs22.x", "Handler": "functions.retrieve.handler.handler"}, False),
    ],
)
def test_a_function_is_ours_by_its_runtime_and_handler(config: dict[str, Any], ours: bool) -> None:
    assert is_ours(config) is ours


def test_package_has_our_bootstrap_the_code_and_the_layers_python_files() -> None:
    code = zipped({"mine.py": "mine", "bootstrap": "somebody's"})
    layer = zipped({"python/tool.py": "tool", "python/sub/part.py": "part", "lib/other.so": "no"})

    made = unzipped(package(code, (layer,)))

    assert made.pop("bootstrap").startswith("#!/bin/sh\n")
    assert made == {
        "mine.py": "mine",
        f"{LAYERS}/tool.py": "tool",
        f"{LAYERS}/sub/part.py": "part",
    }


def zipped(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def unzipped(archive: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}
