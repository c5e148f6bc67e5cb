"""
Paths of the project's parts that are not imported: handlers, examples, templates, CDK app.

In a checkout they are where they are written. A wheel holds them in `shipped`, beside this module,
by the same names (hatch_build.py puts them there), so one path serves both.
"""

from pathlib import Path

from stackroom_local.local_errors import PartMissing

_SHIPPED = Path(__file__).with_name("shipped")
IS_CHECKOUT = not _SHIPPED.is_dir()
ROOT = Path(__file__).resolve().parents[2] if IS_CHECKOUT else _SHIPPED

# Everything of ROOT that is needed to serve, to show and to synthesise; a wheel ships these.
PARTS = ("functions", "statemachines", "examples", "infra", "cdk.json", "requirements.lock")


def part(name: str) -> Path:
    """Return a part's path. Raises `PartMissing` if the wheel was made without it."""
    path = ROOT / name
    if not path.exists():
        raise PartMissing(name, ROOT)
    return path


def task_root() -> Path:
    """Return the folder that has `functions`, which is LAMBDA_TASK_ROOT for a function."""
    return part("functions").parent
