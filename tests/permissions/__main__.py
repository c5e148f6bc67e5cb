"""
What each function does against what its role allows: python -m tests.permissions

Prints a line a function, then every call that its role would not allow and every right that nothing
used, and writes docs/permissions.md. Ends with 1 if there was any of either. Takes a minute.
"""

import time

from stackroom_local import synthesis
from tests.infra.assembly import Assembly
from tests.permissions import recorded, simulated
from tests.permissions.comparison import Comparison
from tests.permissions.needs import needs
from tests.permissions.report import DOCUMENT, document, summary
from tests.permissions.roles import roles


def main() -> int:
    started = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - started:4.0f} s  {text}", flush=True)

    comparison = Comparison(roles(Assembly(synthesis.assembly())))
    for run in (recorded.run, simulated.run):
        lines, names = run(tell)
        for line in lines:
            comparison.add(needs(line, names))
    DOCUMENT.write_text(document(comparison), "utf-8")
    print(f"\n{summary(comparison)}\n")
    for denied in comparison.denied:
        print(f"denied: {denied}")
    for unused in comparison.unused:
        print(f"unused: {unused}")
    tell(f"{len(comparison.denied)} denied, {len(comparison.unused)} unused")
    return 1 if comparison.denied or comparison.unused else 0


if __name__ == "__main__":
    raise SystemExit(main())
