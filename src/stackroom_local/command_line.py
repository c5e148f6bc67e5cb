"""How this installation is called from another shell: what messages tell people to type."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def command() -> str:
    """
    `stackroom` where that is on everybody's PATH, as after `pipx install`; else where it lies.

    The folder of this Python doesn't count: `uvx` and an activated environment put it on the PATH
    of this shell alone.
    """
    program = Path(sys.executable).with_name("stackroom")
    others = [
        each for each in os.get_exec_path() if Path(each).absolute() != program.parent.absolute()
    ]
    found = shutil.which("stackroom", path=os.pathsep.join(others))
    if found and Path(found).resolve() == program.resolve():
        return "stackroom"
    here = Path.cwd()
    return shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))
