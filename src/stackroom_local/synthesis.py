"""
The templates that deploy to AWS, synthesised once for each state of their sources.

Serving needs neither the CDK nor Node: a wheel has the templates for each context that `stackroom
up` has options for (SHIPPED_FOR), and a checkout has those of cdk.json as it stands, in templates/.
Other contexts, and changed sources, are synthesised with the extra `infra`.

    python -m stackroom_local.synthesis     write templates/ again, as `make templates` does
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, combinations
from pathlib import Path
from types import MappingProxyType

from stackroom_local import project_files
from stackroom_local.local_errors import CdkMissing, NodeMissing, SynthesisFailed

_SOURCES = ("infra", "statemachines", "cdk.json")
_CONSTRUCTS = Path(__file__).resolve().parents[1] / "stackroom_constructs"  # what infra builds with
# Assemblies of other contents, so that switching branches to and fro stays quick. Those that were
# used a moment ago may still be read by other processes.
_KEPT = 8
_IN_USE = 24 * 60 * 60  # seconds
TEMPLATES = "templates"
_STACK = "aws:cloudformation:stack"
_AS_IN_CDK_JSON: Mapping[str, str] = MappingProxyType({})
_OPTIONS = ({"retrieve_sharing": "on"}, {"retrieve_via": "bedrock"}, {"ocr": "textract"})
SHIPPED_FOR: tuple[Mapping[str, str], ...] = tuple(
    dict(chain.from_iterable(option.items() for option in some))
    for count in range(len(_OPTIONS) + 1)
    for some in combinations(_OPTIONS, count)
)


def assembly(context: Mapping[str, str] = _AS_IN_CDK_JSON) -> Path:
    """
    Return the project's CDK cloud assembly, and synthesise it (about 10 s) if its sources changed.

    `context` overrides cdk.json, as the CDK CLI's `-c` does. Raises `NodeMissing`, `CdkMissing`,
    `SynthesisFailed`, or `PartMissing` in a broken wheel.
    """
    chosen = _chosen(context)
    return _shipped(chosen) or _synthesised(chosen)


def _synthesised(chosen: Mapping[str, str]) -> Path:
    cache = _cache()
    outcome = cache / fingerprint(chosen)
    with _alone(cache):
        if not (outcome / "manifest.json").exists():
            _require_cdk(chosen)
            _synthesise(outcome, chosen)
            _forget_old(cache)
        os.utime(outcome)
    return outcome


def is_cached(context: Mapping[str, str] = _AS_IN_CDK_JSON) -> bool:
    chosen = _chosen(context)
    return (
        _shipped(chosen) is not None or (_cache() / fingerprint(chosen) / "manifest.json").exists()
    )


def folder_of(context: Mapping[str, str]) -> str:
    """Return the name of the folder in `templates` with the shipped assembly for a context."""
    return "-".join(f"{name}={context[name]}" for name in sorted(context)) or "default"


def _shipped(chosen: Mapping[str, str]) -> Path | None:
    """Return the templates of a wheel, or of a checkout whose sources are unchanged."""
    if chosen not in SHIPPED_FOR:
        return None
    name = f"{TEMPLATES}/{folder_of(chosen)}"
    if not project_files.IS_CHECKOUT:
        return project_files.part(name)
    folder = project_files.ROOT / name
    made_of = folder / "fingerprint"
    is_current = made_of.exists() and made_of.read_text() == fingerprint(chosen)
    return folder if is_current else None


def _chosen(context: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a context that differs from cdk.json."""
    stated = json.loads(project_files.part("cdk.json").read_text("utf-8")).get("context", {})
    return {name: value for name, value in context.items() if str(stated.get(name)) != value}


def _cache() -> Path:
    """Return the cache's folder in the checkout; a wheel's may be read-only, or gone tomorrow."""
    if project_files.IS_CHECKOUT:
        return project_files.ROOT / ".cache" / "synth"
    # https://specifications.freedesktop.org/basedir-spec/latest/#variables
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "stackroom" / "synth"


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """
    Hold a lock, so that two processes that start at once synthesise once; it ends with its process.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with cache.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _require_cdk(chosen: Mapping[str, str]) -> None:
    if importlib.util.find_spec("aws_cdk") is None:
        raise CdkMissing(chosen)
    if shutil.which("node") is None:
        raise NodeMissing


def _synthesise(outcome: Path, context: Mapping[str, str]) -> None:
    draft = outcome.with_name(f"{outcome.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    # Without --bundle: the functions run from this project, with the packages installed here.
    command = [sys.executable, "infra/app.py", "--outdir", str(draft)]
    # How the CDK CLI hands its `-c` to an app.
    environment = {**os.environ, "CDK_CONTEXT_JSON": json.dumps(dict(context))}
    run = subprocess.run(  # noqa: S603 - our own command line
        command,
        cwd=project_files.ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode or not (draft / "manifest.json").exists():
        raise SynthesisFailed("\n".join((run.stderr or run.stdout).splitlines()[-25:]))
    shutil.rmtree(outcome, ignore_errors=True)
    draft.replace(outcome)


def fingerprint(context: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(dict(context), sort_keys=True).encode())
    for path in _named_in(context):
        digest.update(path.read_bytes())
    for root, path in _sources():
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _named_in(context: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that settings name, by paths as infra takes them."""
    for name, value in sorted(context.items()):
        if name.endswith("_file") and value and (path := project_files.ROOT / value).is_file():
            yield path


def _sources() -> Iterator[tuple[Path, Path]]:
    """Yield each file with the folder that it is named in, wherever this is installed."""
    named = [(project_files.ROOT, project_files.part(name)) for name in _SOURCES]
    for root, source in [*named, (_CONSTRUCTS.parent, _CONSTRUCTS)]:
        if source.is_file():
            yield root, source
            continue
        for path in sorted(source.rglob("*")):
            if path.is_file() and path.suffix in {".py", ".json"} and "cdk.out" not in path.parts:
                yield root, path


def _forget_old(cache: Path) -> None:
    used = {path: path.stat().st_mtime for path in cache.iterdir()}
    for path in sorted(used, key=used.__getitem__, reverse=True)[_KEPT:]:
        if used[path] < time.time() - _IN_USE:
            shutil.rmtree(path, ignore_errors=True)


def without_code(assembly: Path) -> dict[str, str]:
    """
    Return the served files of an assembly by name: the deployment's order, and the templates.

    The functions' code runs from the project, so its hashes, which change with each edit, are
    zeros.
    """
    artifacts = json.loads((assembly / "manifest.json").read_bytes())["artifacts"]
    stacks = {name: each for name, each in artifacts.items() if each["type"] == _STACK}
    manifest = {
        "artifacts": {
            name: {
                "type": _STACK,
                "dependencies": [each for each in stack.get("dependencies", []) if each in stacks],
                "properties": {"templateFile": stack["properties"]["templateFile"]},
            }
            for name, stack in stacks.items()
        }
    }
    files = {"manifest.json": json.dumps(manifest, indent=1) + "\n"}
    for stack in stacks.values():
        name = stack["properties"]["templateFile"]
        text = (assembly / name).read_text("utf-8")
        files[name] = re.sub(r"\b[0-9a-f]{64}\b", "0" * 64, text)
    return files


def _write() -> None:
    chosen = _chosen(_AS_IN_CDK_JSON)
    files = without_code(_synthesised(chosen))
    folder = project_files.ROOT / TEMPLATES / folder_of(chosen)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "fingerprint").write_text(fingerprint(chosen))


if __name__ == "__main__":
    _write()
