"""
The measured sets: files, questions, and the judge of each answer.

A folder of published sets has these folders, any of which may be missing.
"""

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from benchmarks.answers.corpus import fetched
from benchmarks.answers.questions import questions
from stackroom_evaluation.judging import Shown, Spot, is_right

PUBLISHED = """
DATA is a folder with any of these:
  filings/    documents/*.pdf and questions.csv of sec-10-q in github.com/docugami/KG-RAG-datasets
  chunks/     *.md and questions.csv of github.com/brandonstarxel/chunking_evaluation
  banking/    of banking_knowledge in github.com/sierra-research/tau2-bench: documents.jsonl (id,
              title, content) and tasks.jsonl (instructions, required_documents)
  languages/  xquad.LANGUAGE.json of github.com/google-deepmind/xquad
"""
OWN = ("tune", "report")
_LONGEST_QUESTION = 1_000  # characters that the tool accepts
_PIECE = 25  # letters and digits of an excerpt
_ENOUGH = 0.8  # the share of an excerpt's pieces that suffices
_EVERY = 4  # one question in four of each language, which all have the same 1,190

# Returns the share of the answer that the shown passages have, from 0 to 1.
Judge = Callable[[Sequence[Shown]], float]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question; `judge` is None if nothing in the set answers it. `sources` are files that do."""

    question: str
    judge: Judge | None
    sources: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class MeasuredSet:
    """A set; `files` are bodies by file name, shared by sets of one `catalog`."""

    name: str
    catalog: str
    files: Mapping[str, bytes]
    asked: Sequence[Asked]

    @property
    def group(self) -> str:
        """Return the name of the sets that count as one in the mean over all."""
        return self.catalog.partition("-")[0]


def sets_of(folder: Path | None) -> Iterator[MeasuredSet]:
    """Read the folder's sets and the project's own, and print which are missing."""
    for name, read in {"chunks": _chunks, "filings": _filings, "banking": _banking}.items():
        if folder is not None and (folder / name).is_dir():
            yield read(folder / name)
        else:
            _print_missing(name)
    languages = sorted((folder / "languages").glob("xquad.*.json")) if folder is not None else []
    for file in languages:
        yield _language(file)
    if not languages:
        _print_missing("languages")
    yield from _own()


def _print_missing(name: str) -> None:
    print(f"not measured: {name}, which is not in DATA; --help says where it is from")


# Judges.


def documents_found(files: frozenset[str], shown: Sequence[Shown]) -> float:
    """Judge by the share of the files that have passages; a passage may be in several files."""
    seen = {file for each in shown for file in (each.file, *each.others)}
    return len(files & seen) / len(files)


def excerpts_found(excerpts: Sequence[str], shown: Sequence[Shown]) -> float:
    """Judge by the share of the excerpts that are nearly complete; pieces may be scattered."""
    texts = [_letters(each.text) for each in shown]
    return sum(_is_there(_letters(each), texts) for each in excerpts) / len(excerpts)


def _is_there(excerpt: str, texts: Sequence[str]) -> bool:
    starts = range(0, max(1, len(excerpt) - _PIECE + 1), _PIECE)
    pieces = [excerpt[start : start + _PIECE] for start in starts]
    found = sum(any(piece in text for text in texts) for piece in pieces)
    return found >= _ENOUGH * len(pieces)


def words_found(spots: Sequence[Spot], shown: Sequence[Shown]) -> float:
    return float(any(is_right(each, spots) for each in shown))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


# Readers.


def _own() -> Iterator[MeasuredSet]:
    documents = fetched()
    files = {each.name: each.read_bytes() for each in documents.values()}
    known = list(questions())
    for name in OWN:
        asked = []
        for each in known:
            if each.set == name:
                spots = [replace(spot, file=documents[spot.file].name) for spot in each.spots]
                judge = partial(words_found, spots) if spots else None
                sources = frozenset(spot.file for spot in spots)
                asked.append(Asked(question=each.question, judge=judge, sources=sources))
        yield MeasuredSet(name=f"own-{name}", catalog="own", files=files, asked=asked)


def _chunks(folder: Path) -> MeasuredSet:
    files = {each.name: each.read_bytes() for each in sorted(folder.glob("*.md"))}
    asked = [
        Asked(
            question=row["question"],
            judge=partial(
                excerpts_found, [each["content"] for each in json.loads(row["references"])]
            ),
            sources=frozenset({f"{row['corpus_id']}.md"}),
        )
        for row in _rows(folder / "questions.csv")
        if f"{row['corpus_id']}.md" in files
    ]
    return MeasuredSet(name="chunks", catalog="chunks", files=files, asked=asked)


def _filings(folder: Path) -> MeasuredSet:
    """Read the set, without questions about missing reports."""
    documents = sorted((folder / "documents").glob("*.pdf"))
    asked = []
    for row in _rows(folder / "questions.csv"):
        globs = [each.strip().removesuffix(".pdf") for each in row["Source Docs"].split(",")]
        named = [{each.name for each in documents if fnmatch(each.stem, glob)} for glob in globs]
        if all(named):
            asked.append(_about_documents(row["Question"], frozenset().union(*named)))
    files = {each.name: each.read_bytes() for each in documents}
    return MeasuredSet(name="filings", catalog="filings", files=files, asked=asked)


def _banking(folder: Path) -> MeasuredSet:
    documents = map(json.loads, (folder / "documents.jsonl").read_text().splitlines())
    files = {
        f"{each['id']}.md": f"# {each['title']}\n\n{each['content']}".encode() for each in documents
    }
    asked = []
    for task in map(json.loads, (folder / "tasks.jsonl").read_text().splitlines()):
        required = {f"{each}.md" for each in task["required_documents"]} & files.keys()
        if required:
            asked.append(_about_documents(task["instructions"], frozenset(required)))
    return MeasuredSet(name="banking", catalog="banking", files=files, asked=asked)


def _language(file: Path) -> MeasuredSet:
    """Return the set of a language, with a file for each paragraph."""
    files: dict[str, bytes] = {}
    asked: list[Asked] = []
    for article in json.loads(file.read_text())["data"]:
        for number, paragraph in enumerate(article["paragraphs"]):
            name = f"{article['title']}-{number}.txt"
            files[name] = paragraph["context"].encode()
            asked += [
                _about_documents(each["question"], frozenset({name})) for each in paragraph["qas"]
            ]
    name = f"languages-{file.name.split('.')[1]}"
    return MeasuredSet(name=name, catalog=name, files=files, asked=asked[_EVERY - 1 :: _EVERY])


def _about_documents(question: str, files: frozenset[str]) -> Asked:
    return Asked(
        question=question[:_LONGEST_QUESTION],
        judge=partial(documents_found, files),
        sources=files,
    )


def _rows(file: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        yield from csv.DictReader(lines)
