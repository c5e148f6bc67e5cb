"""
How long each function's handler takes to import, against `import boto3` and one client.

    make bench-cold

Each figure is the best of several fresh interpreters, importing from the function's own bundle (the
zip that is deployed, built for the Python that runs this, with byte code). Zip sizes are of that.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from infra.bundling import CORE, IDENTITY, INSPECT, SERVICES, Group
from stackroom_constructs import packages

ROOT = Path(__file__).parents[1]
AIM = 1.5
RUNS = 9
FUNCTIONS = {
    "upload_handler": CORE,
    "inspect": INSPECT,
    "ingest": CORE,
    "status_poller": CORE,
    "reconciler": CORE,
    "retrieve": CORE,
    "catalog_tools": CORE,
    "identity_interceptor": IDENTITY,
}
BASELINE = "import boto3; boto3.session.Session().client('dynamodb', region_name='us-east-1')"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundles = {group.name: bundle(group, Path(folder)) for group in (CORE, INSPECT, IDENTITY)}
        took = best(bundles)
        baseline = took.pop(BASELINE)
        print(f"import boto3 + one client   {baseline * 1000:6.0f} ms")
        for name, seconds in took.items():
            print(
                f"{name:27} {seconds * 1000:6.0f} ms   {seconds / baseline:4.2f} x (aim {AIM})"
                f"   zip {zipped(bundles[FUNCTIONS[name].name]) / 1e6:5.1f} MB"
            )
    print("A handler makes its clients at its first call; they are not in these figures.")


def bundle(group: Group, folder: Path) -> Path:
    """The group's zip, unpacked; for this interpreter, since one for Lambda would not run here."""
    target = folder / group.name
    target.mkdir()
    group.bundle().write(target, with_dependencies=False)
    pins = folder / f"{group.name}.txt"
    extras = [option for extra in group.extras for option in ("--extra", extra)]
    uv = [str(Path(sys.executable).with_name("uv")), "pip"]
    compile_ = ["compile", "pyproject.toml", *extras, "--constraint", "requirements.lock"]
    run(*uv, *compile_, "--quiet", "-o", str(pins))
    run(*uv, "install", "--quiet", "--target", str(target), "-r", str(pins))
    packages.prune(target, SERVICES)
    run(sys.executable, "-m", "compileall", "-q", str(target))
    return target


def best(bundles: dict[str, Path]) -> dict[str, float]:
    """Seconds by function; taken in turns, so that a slow moment of the machine spares none."""
    codes = {name: f"import functions.{name}.handler" for name in FUNCTIONS}
    roots = {name: bundles[group.name] for name, group in FUNCTIONS.items()}
    everything = {BASELINE: (BASELINE, bundles[CORE.name])}
    everything |= {name: (codes[name], roots[name]) for name in FUNCTIONS}
    rounds = [{name: seconds(*each) for name, each in everything.items()} for _ in range(RUNS)]
    return {name: min(each[name] for each in rounds) for name in everything}


def seconds(code: str, root: Path) -> float:
    timed = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(root)!r}); {timed}",
    ]
    return float(run(*command).strip())


def zipped(root: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        archive = shutil.make_archive(str(Path(folder) / "function"), "zip", root)
        assert zipfile.is_zipfile(archive), "what make_archive makes is a zip"
        return Path(archive).stat().st_size


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, text=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
