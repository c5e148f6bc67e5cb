"""
Where the parts of the project lie that nobody imports: handlers, examples, templates, CDK app.

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
    """Raises `PartMissing` for one that was left out when a wheel was made."""
    path = ROOT / name
    if not path.exists():
        raise PartMissing(name, ROOT)
    return path


def task_root() -> Path:
    """The folder in which `functions` lies: what a function finds at LAMBDA_TASK_ROOT."""
    return part("functions").parent
