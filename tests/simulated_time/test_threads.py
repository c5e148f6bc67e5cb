"""Whatever the simulator does beside something else goes through its clock, or time can't be."""

import re
from pathlib import Path

import stackroom_local.simulator

ROOT = Path(stackroom_local.simulator.__file__).parent
BEGINS = re.compile(r"threading\.(Thread|Timer|Event)\(|ThreadPoolExecutor|time\.sleep")
# The clock itself, the server around it all, and two things that simulated time does without: a
# child process that parses, and a model that is loaded.
APART = {"clock.py", "server.py", "parser_child.py", "embedding.py"}


def test_the_simulator_begins_nothing_and_waits_for_nothing_but_by_its_clock() -> None:
    texts = {path.name: path.read_text("utf-8") for path in ROOT.glob("*.py")}

    beginners = {name for name, text in texts.items() if BEGINS.search(text)}

    assert beginners == APART
