"""A passage as it is shown: without the running headers, footers and page numbers in it."""

from collections.abc import Sequence

from stackroom.inspection.alignment import Alignment
from stackroom.inspection.normalised import normalise
from stackroom.inspection.stretches import Stretches

_LEAST_LETTERS = 6  # of a line that is known by what it says: shorter ones stand anywhere


def without_running_lines(passage: str, found: Alignment, text: str, running: Stretches) -> str:
    """Line by line, whole lines alone; the passage as it is if nothing else would be left."""
    lines = passage.splitlines(keepends=True)
    said = [normalise(line) for line in lines]
    if found.is_whole:
        dropped = _by_position(said, found.stretches[0][0], running)
    else:
        dropped = _by_words(said, _around(found, text, running))
    kept = [number for number in range(len(lines)) if number not in dropped]
    if not any(said[number] for number in kept):
        return passage
    return "".join(lines[number] for number in kept).strip("\r\n")


def _by_position(said: Sequence[str], position: int, running: Stretches) -> set[int]:
    dropped: set[int] = set()
    for number, letters in enumerate(said):
        end = position + len(letters)
        if letters and running.letters_in(position, end) == len(letters):
            dropped.add(number)
        position = end
    return dropped


def _by_words(said: Sequence[str], running: Sequence[str]) -> set[int]:
    """
    Lines that say what a running line there says. The other program may have both lines of a header
    in one. A bare number is a page's only beside another such line.
    """
    known = {*running, *(one + other for one in running for other in running)}
    long = {each for each in known if len(each) >= _LEAST_LETTERS and not each.isdecimal()}
    dropped = {number for number, letters in enumerate(said) if letters in long}
    filled = [number for number, letters in enumerate(said) if letters]
    for at, number in enumerate(filled):
        beside = set(filled[max(0, at - 1) : at + 2])
        if said[number] in running and beside & dropped:
            dropped.add(number)
    return dropped


def _around(found: Alignment, text: str, running: Stretches) -> list[str]:
    begin = found.stretches[0][0] - found.before
    end = found.stretches[-1][1] + found.after
    return [text[first:last] for first, last in running.between(max(0, begin), end)]
