"""
Compares what each function and agent does with what its role allows.

    python -m tests.campaigns.permissions

Prints every call that a role would not allow and every right that nothing used, and writes
docs/permissions.md. Of a pool of MANAGED knowledge bases, whose roles may less
(tests/infra/test_managed_pool.py), only what they would not allow. Ends with 1 if there was any of
either. Takes two minutes.
"""

import time
from collections.abc import Callable, Mapping

from stackroom_local import synthesis
from tests.campaigns.permissions import agents, recorded, stories
from tests.campaigns.permissions.needs import Need, needs
from tests.campaigns.permissions.report import DOCUMENT, document
from tests.campaigns.permissions.roles import Comparison, is_on_purpose, roles
from tests.campaigns.permissions.scenes import MANAGED_SCENES, SCENES
from tests.infra.assembly import Assembly

# What is deployed, or granted, only where it is asked for.
_EXTRAS = {"ocr": "textract"}


def main() -> int:
    started = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - started:4.0f} s  {text}", flush=True)

    comparison = Comparison(roles(Assembly(synthesis.assembly(_EXTRAS))))
    in_local_mode = recorded.run(tell, SCENES, *_options(_EXTRAS))
    for lines, names in (in_local_mode, stories.run(tell)):
        for line in lines:
            comparison.add(needs(line, names))
    denied_managed = _denied_over_managed(tell)
    of_agents = agents.run(tell)
    DOCUMENT.write_text(document(comparison, of_agents.comparison), "utf-8")
    denied = [*comparison.denied, *denied_managed, *of_agents.comparison.denied]
    unused = [each for each in comparison.unused if not is_on_purpose(each)] + of_agents.unused
    for need in denied:
        print(f"denied: {need}")
    for grant in unused:
        print(f"unused: {grant}")
    for grant in of_agents.on_purpose:
        print(f"unused on purpose: {grant}")
    tell(f"{len(denied)} denied, {len(unused)} unused")
    return 1 if denied or unused else 0


def _denied_over_managed(tell: Callable[[str], object]) -> list[Need]:
    context = {"knowledge_base_type": "managed", **_EXTRAS, "ocr": "none"}
    comparison = Comparison(roles(Assembly(synthesis.assembly(context))))
    lines, names = recorded.run(tell, MANAGED_SCENES, *_options(context))
    assert lines, "whatever a function calls is recorded"
    for line in lines:
        comparison.add(needs(line, names))
    return comparison.denied


def _options(context: Mapping[str, str]) -> list[str]:
    return [part for name, value in context.items() for part in ("-c", f"{name}={value}")]


if __name__ == "__main__":
    raise SystemExit(main())
