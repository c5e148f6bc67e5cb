"""The clicks of a task, counted in the browser and held to the number in docs/console."""

import re
from pathlib import Path

from tests.browser.visitors import Visitor

TABLE = Path("docs/console/README.md")
# One for each press of a pointer. A click event isn't: a label passes its own on to its field, and
# Enter in a form clicks the form's button.
_COUNT = """
  addEventListener("pointerdown", (event) => { if (event.isTrusted) countClick(); }, true);
"""


class Clicks:
    """The clicks of a visitor on all pages that they open from now on, new tabs included."""

    def __init__(self, visitor: Visitor) -> None:
        self.made = 0
        context = visitor.page.context
        context.expose_binding("countClick", self._count)
        context.add_init_script(_COUNT)

    def _count(self, _source: object) -> None:
        self.made += 1

    def match(self, task: str) -> None:
        """
        Fail unless the table gives as many clicks for the task as were made. The number there only
        goes down.
        """
        row = rf"^\| {re.escape(task)} \| [^|]+ \| (\d+) \|$"
        [number] = re.findall(row, TABLE.read_text("utf-8"), re.MULTILINE)
        assert self.made == int(number), f"{self.made} clicks, {number} in {TABLE}: {task}"
