"""The templates that deploy to AWS, synthesised once per content of their sources."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from stackroom_local.problems import NodeMissing, SynthesisFailed

CHECKOUT = Path(__file__).resolve().parents[2]
_SOURCES = ("infra", "statemachines", "cdk.json", "requirements.lock")
_KEPT = 4  # assemblies of other contents, so that switching branches to and fro stays quick
_AS_IN_CDK_JSON: Mapping[str, str] = MappingProxyType({})


def assembly(context: Mapping[str, str] = _AS_IN_CDK_JSON) -> Path:
    """
    The CDK cloud assembly of this checkout; synthesises it (about 10 s) if its sources changed.

    `context` overrides cdk.json, as the CDK CLI's `-c` does.

    Raises `NodeMissing` or `SynthesisFailed`.
    """
    cache = CHECKOUT / ".cache" / "synth"
    outcome = cache / _fingerprint(context)
    with _alone(cache):
        if not (outcome / "manifest.json").exists():
            if shutil.which("node") is None:
                raise NodeMissing
            _synthesise(outcome, context)
            _forget_old(cache)
        os.utime(outcome)
    return outcome


def is_cached(context: Mapping[str, str] = _AS_IN_CDK_JSON) -> bool:
    return (CHECKOUT / ".cache" / "synth" / _fingerprint(context) / "manifest.json").exists()


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Two that start at once synthesise once; the lock ends with its process."""
    cache.mkdir(parents=True, exist_ok=True)
    with cache.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _synthesise(outcome: Path, context: Mapping[str, str]) -> None:
    draft = outcome.with_name(f"{outcome.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    # Without --bundle: the functions run from this checkout, with the packages of .venv.
    command = [sys.executable, "infra/app.py", "--outdir", str(draft)]
    # How the CDK CLI hands its `-c` to an app.
    environment = {**os.environ, "CDK_CONTEXT_JSON": json.dumps(dict(context))}
    run = subprocess.run(  # noqa: S603 - our own command line
        command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode or not (draft / "manifest.json").exists():
        raise SynthesisFailed("\n".join((run.stderr or run.stdout).splitlines()[-25:]))
    shutil.rmtree(outcome, ignore_errors=True)
    draft.replace(outcome)


def _fingerprint(context: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(dict(context), sort_keys=True).encode())
    for path in _sources():
        digest.update(f"{path.relative_to(CHECKOUT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    for name in _SOURCES:
        root = CHECKOUT / name
        if root.is_file():
            yield root
            continue
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.suffix in {".py", ".json"} and "cdk.out" not in path.parts:
                yield path


def _forget_old(cache: Path) -> None:
    by_use = sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in by_use[_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
