"""`make bench-readers DATA=FOLDER`: how much of a file's text each format's reader gets."""

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from benchmarks.layout import Row, aligned
from benchmarks.readers.cases import Verdict, cases_in, judged
from benchmarks.readers.folders import Reading, files_under, read_by_itself
from benchmarks.readers.peers import Peer, peers_of
from benchmarks.readers.truths import FORMATS, Shares, files_of, shares, truth_of
from benchmarks.serving import NotMeasured, measure, print_machine
from stackroom.text.document_text import text_of, without_context
from stackroom.text.extraction import read_pages

DATA = """
DATA is a folder with any of readers/pdf, readers/docx, readers/html, readers/xlsx and readers/csv:
files with their truth beside them as NAME.md, report.pdf.md for report.pdf. docling publishes such
files and truths in tests/data of github.com/docling-project/docling (MIT).
"""
_AIM = 0.95  # the share of a truth's words; files below it are listed
_OURS = "Stackroom"


def main() -> None:
    options = _options()
    print_machine()
    if options.cases is not None:
        _judge_cases(options.cases)
    if options.folder is not None:
        _read_folder(options.folder, options.sample)
    if options.data is not None:
        _compare(options.data / "readers")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench-readers",
        description=__doc__,
        epilog=DATA,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", nargs="?", type=Path, help="a folder of files with their truths")
    parser.add_argument("--cases", type=Path, help="a folder of files whose text goes missing")
    parser.add_argument("--folder", type=Path, help="any files: print what crashes or is silent")
    parser.add_argument("--sample", type=int, default=1, help="every Nth file of --folder alone")
    options = parser.parse_args()
    folders = [each for each in (options.data, options.cases, options.folder) if each is not None]
    if not folders:
        parser.error("name a folder: DATA, --cases or --folder; --help says what is in each")
    for each in folders:
        if not each.is_dir():
            parser.error(f"there is no folder {each}")
    return options


# Against the truth.


def _compare(folder: Path) -> None:
    files = files_of(folder)
    if not files:
        raise NotMeasured(f"{folder} has no files with their truths; --help says where from")
    rows: list[Row] = [("Format, reader", "Files", "Words", "Headings", "Cells", "Time a file")]
    ours: list[_Read] = []
    for extension in FORMATS:
        those = [each for each in files if each.suffix == f".{extension}"]
        peers = {_OURS: _ours, **peers_of(extension)} if those else {}
        for name, reader in peers.items():
            read = [_compared(file, reader) for file in those]
            rows.append(_row(f"{extension}, {name}", read))
            ours += read if name == _OURS else []
    rows.append(_row(f"all, {_OURS}", ours))
    print(f"\n{aligned(rows)}\n\nFiles with less than {_AIM:.0%} of the words:")
    for each in ours:
        if each.shares.words is not None and each.shares.words < _AIM:
            missing = " ".join(each.shares.missing)
            print(f"  {', '.join((each.file.name, *_figures([each])))}; {missing}")


@dataclass(frozen=True, kw_only=True)
class _Read:
    file: Path
    shares: Shares
    seconds: float


def _compared(file: Path, reader: Peer) -> _Read:
    began = time.perf_counter()
    try:
        text = reader(file)
    except Exception as error:  # any error of a peer means a file without words
        print(f"{reader.__name__} can't read {file.name}: {type(error).__name__}: {error}"[:200])
        text = ""
    seconds = time.perf_counter() - began
    truth = truth_of(file).read_text("utf-8")
    found = shares(text, truth, is_sheet=file.suffix in {".csv", ".xlsx"})
    return _Read(file=file, shares=found, seconds=seconds)


def _ours(file: Path) -> str:
    pages = read_pages(file.read_bytes(), file.name)
    return without_context(text_of(pages, file.name).markdown)


def _row(name: str, read: Sequence[_Read]) -> Row:
    return (name, str(len(read)), *_figures(read))


def _figures(read: Sequence[_Read]) -> list[str]:
    found = [each.shares for each in read]
    columns = zip(*((each.words, each.headings, each.cells) for each in found), strict=True)
    time_each = f"{median(each.seconds for each in read) * 1000:.0f} ms"
    return [*map(_per_cent, columns), time_each]


def _per_cent(column: Iterable[float | None]) -> str:
    """Return the mean over the files that have a share."""
    having = [each for each in column if each is not None]
    return f"{mean(having):.1%}" if having else "-"


# Without a truth.


def _judge_cases(folder: Path) -> None:
    """Print each case's verdict, and how many of each verdict other libraries would get."""
    counts: dict[str, Counter[Verdict]] = {}
    for case in cases_in(folder):
        verdict, why = judged(case, read_by_itself(case.file))
        print(f"{verdict:5}  {case.file.name}  {why}", flush=True)
        counts.setdefault(_OURS, Counter())[verdict] += 1
        extension = case.file.suffix[1:]
        counts.setdefault(f"{extension}, {_OURS}", Counter())[verdict] += 1
        for name, peer in peers_of(extension).items():
            verdict, _ = judged(case, _read_by(peer, case.file))
            counts.setdefault(f"{extension}, {name}", Counter())[verdict] += 1
    for reader, count in sorted(counts.items()):
        print(f"{reader}: {', '.join(f'{count[each]} {each}' for each in Verdict)}")


def _read_by(peer: Peer, file: Path) -> Reading:
    try:
        return Reading(markdown=peer(file))
    except Exception as error:  # any error means to a caller that there is no text
        return Reading(refused=str(error))


def _read_folder(folder: Path, sample: int) -> None:
    """Print a line for each defect as it is found, then the number of each reason for a refusal."""
    os.nice(10)
    kinds, reasons = Counter[str](), Counter[str]()
    files = files_under(folder)[::sample]
    for file in files:
        reading = read_by_itself(file)
        kinds["refused" if reading.refused else "with gaps" if reading.gaps else "read"] += 1
        reasons.update(filter(None, [reading.refused]))
        for defect in reading.defects():
            kinds[defect.partition(":")[0]] += 1
            print(f"{file.relative_to(folder)}: {defect}", flush=True)
    print(f"{len(files)} files: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}")
    for reason, count in reasons.most_common():
        print(f"refused {count}: {reason}")


if __name__ == "__main__":
    measure(main)
