"""What the pages load of others is what the lock file says, and nobody has changed it since."""

import hashlib
import json
from pathlib import Path

import stackroom_console

HERE = Path(stackroom_console.__file__).parent
VENDORED = HERE / "static" / "vendor"


def test_every_file_is_as_it_was_copied() -> None:
    lines = (VENDORED / "SHA256SUMS").read_text().splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    there = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDORED.iterdir()
        if path.name != "SHA256SUMS"
    }

    assert there == listed


def test_the_lock_file_pins_each_package_by_its_contents() -> None:
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    locked = json.loads((HERE / "package-lock.json").read_text())["packages"]

    assert {
        name.removeprefix("node_modules/"): each["version"] for name, each in locked.items() if name
    } == wanted
    assert all(each["integrity"].startswith("sha512-") for name, each in locked.items() if name)


def test_the_file_is_of_the_version_that_is_locked() -> None:
    locked = json.loads((HERE / "package-lock.json").read_text())["packages"]

    for package, file in {"htmx.org": "htmx.min.js", "@picocss/pico": "pico.min.css"}.items():
        version = locked[f"node_modules/{package}"]["version"]
        assert version in (VENDORED / file).read_text("utf-8")
