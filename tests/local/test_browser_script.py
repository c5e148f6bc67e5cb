"""`make browser` on machines that have a browser, can get one, or need somebody to bring one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes
SCRIPT = Path(__file__).parents[1] / "browser" / "install.sh"
_IS_ROOT = os.geteuid() == 0
_IS_DEBIAN = "\nID=debian\n" in Path("/etc/os-release").read_text("utf-8")


class Machine:
    """Its commands are those of one folder, where Chromium would be, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chromium = folder / "chromium"
        folder.mkdir()
        for name in ("chmod", "id"):
            found = shutil.which(name)
            assert found is not None
            (folder / name).symlink_to(found)

    def with_command(self, name: str, *lines: str) -> "Machine":
        made = self.folder / name
        made.write_text("\n".join(("#!/bin/sh", *lines)))
        made.chmod(0o755)
        return self

    def browser(self, **variables: str) -> tuple[str, str]:
        """What it said on both ways. It ends well in any case."""
        script = SCRIPT.read_text("utf-8").replace("/usr/bin/chromium", str(self.chromium))
        ended = subprocess.run(
            ["/bin/sh", "-s"],
            input=script,
            env={"PATH": str(self.folder), **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return ended.stdout, ended.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "bin")


@pytest.fixture
def with_apt(machine: Machine) -> Machine:
    """It puts Chromium where Debian's does."""
    made = f"printf '#!/bin/sh\\necho Chromium 1.2\\n' >{machine.chromium}"
    install = f"{made} && chmod 755 {machine.chromium}"
    return machine.with_command(
        "apt-get", 'echo "$@" >&2', f'if test "$1" = install; then {install}; fi'
    )


def test_where_there_is_one_nothing_is_done(with_apt: Machine) -> None:
    with_apt.with_command("chromium")

    assert with_apt.browser() == ("", "")


@pytest.mark.skipif(not (_IS_ROOT and _IS_DEBIAN), reason="only root installs, and on Debian")
def test_root_gets_debians_and_is_told_which(with_apt: Machine) -> None:
    said, told = with_apt.browser()

    assert said == "installing chromium for tests/browser\nChromium 1.2\n"
    assert "install -qq --yes --no-install-recommends chromium" in told
    assert with_apt.browser() == ("", "")


@pytest.mark.skipif(not (_IS_ROOT and _IS_DEBIAN), reason="only root installs, and on Debian")
def test_what_apt_fails_at_ends_it(machine: Machine) -> None:
    machine.with_command("apt-get", "echo 'E: no network' >&2", "exit 100")

    with pytest.raises(subprocess.CalledProcessError) as failed:
        machine.browser()

    assert (failed.value.returncode, failed.value.stderr) == (100, "E: no network\n")


def test_who_is_not_root_is_told_how_to_be(with_apt: Machine) -> None:
    (with_apt.folder / "id").unlink()  # or it would be written through
    said, told = with_apt.with_command("id", "echo 1000").browser()

    assert said == ""
    assert f"no Chromium at {with_apt.chromium}, so tests/browser will fail" in told
    assert "run `sudo make browser`, or set CHROMIUM to where one is" in told


def test_another_that_is_named_and_is_not_there_is_not_replaced(with_apt: Machine) -> None:
    said, told = with_apt.browser(CHROMIUM="/nowhere/chrome")

    assert said == ""
    assert told.startswith("no Chromium at /nowhere/chrome, so tests/browser will fail: set CHROM")
