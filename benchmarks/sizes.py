"""What memory the processes behind the gateway hold: its own, and each function's together."""

from collections.abc import Mapping, Sequence

import psutil

from benchmarks.serving import verdict
from stackroom_local.state import Instance

Sizes = Mapping[str, tuple[int, float]]  # by what they serve: how many processes, MiB


def sizes_of(instance: Instance) -> Sizes:
    """What several share is counted once where the system tells it (PSS of Linux)."""
    gateway = psutil.Process(instance.children["gateway"])
    found: dict[str, tuple[int, float]] = {"gateway": (1, _mebibytes(gateway))}
    for process in gateway.children(recursive=True):
        try:
            name, size = _served_by(process), _mebibytes(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        number, sizes = found.get(name, (0, 0.0))
        found[name] = (number + 1, sizes + size)
    return found


def print_sizes(sizes: Sequence[Sizes], *, aim: float) -> None:
    print(f"\n{'MiB (processes)':28}{'beginning':>14}{'middle':>14}{'end':>14}")
    for name in sorted({name for each in sizes for name in each}):
        told = (each.get(name, (0, 0.0)) for each in sizes)
        print(f"{name:28}" + "".join(f"{size:9.0f} ({number:2})" for number, size in told))
    _, middle, end = (sum(size for _, size in each.values()) for each in sizes)
    growth = (end - middle) / middle * 100
    print(f"growth from middle to end   {growth:8.1f} %   aim {aim:g} %: {verdict(growth <= aim)}")


def _mebibytes(process: psutil.Process) -> float:
    told = process.memory_full_info()
    return float(getattr(told, "pss", told.rss)) / 2**20


def _served_by(process: psutil.Process) -> str:
    """The package of `functions.{package}.handler.handler`, the last word of its command."""
    words = process.cmdline()[-1:]
    return words[0].split(".")[1] if words and words[0].startswith("functions.") else "others"
