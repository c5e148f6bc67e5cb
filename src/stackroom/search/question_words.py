"""
The words of a question in the passages that were found for it.

Words are compared as SQLite's full-text search does it: in one case, without accents, English ones
by their stem. Of a question in German, French or Spanish, which the words tell that it is asked
with, a word stands for all that begin as it does without its ending: passages need no stemming, and
in German a word is found in compounds, too. Chinese, Japanese and Korean put no spaces between
words, so two letters that stand together count as one.
"""

import math
import re
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
# Han, kana and Hangul, in runs.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MOST_WORDS = 60  # of a question that are compared: it may be a thousand characters long
_TEXTS = "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = '{}unicode61 remove_diacritics 2')"
# What a question is asked with says nothing of what it is about. The shortest lists that help:
# words that most passages have weigh next to nothing by themselves. Whose words a question has most
# of is its language; of equals the first.
_ASKING_WORDS = {
    "en": """
a about am an and any are as at be been but by can could did do does for from had has have how i if
in into is it its many may me might much must my need not of on or our please shall should so some
such tell than that the their them then there these they this those to us was we were what when
where whether which who whom whose why will with would you your
""",
    "de": """
aber alle als am an auch auf aus bei beim bin bis das dass dem den denn der des die dies diese
diesem diesen dieser dieses du durch ein eine einem einen einer eines er es etwa für gegen gibt hat
haben habe ich ihr im in ist kann kein keine keinem keinen keiner können man mehr mein
meine meinem meinen meiner mich mir mit muss müssen nach nicht noch nur ob oder ohne sein seine
sich sie sind so soll sollte sollen
um und uns unser unsere vom von vor wann warum was weil welche welchem welchen welcher welches wem
wen wenn wer werden wessen weshalb wie wir wird wo wofür woher wohin womit wozu zu zum zur zwischen
""",
    "fr": """
à a ai as au aux avec c ce ces cet cette ceux comme comment combien d dans de des dois doit donc du
elle en es est et être fait faut il ils j je l la le les leur leurs lors lorsque lui m ma mais me
mes moi mon n ne nos notre nous on ont ou où par pas peut peux plus pour pourquoi puis qu quand que
quel quelle quelles quels qui quoi s sa sans se ses si sont son sur t ta te tes ton tous tout toute
toutes tu un une veux vos votre vous y
""",
    "es": """
a al algo antes como cómo con cuál cuáles cuando cuándo cuánto cuántos de debe debo del desde donde
dónde el él ella en entre era es esa ese eso esta está este esto estos fue ha hace hacer hacia hago
hasta hay he la las le les lo los más me mi mis muy no nos o para pero por porque puede puedo que
qué quién quiero sé se ser si sí sin sobre son su sus también te tengo tiene todo todos un una uno
unos y ya yo
""",
}
_ASKING = {language: frozenset(words.split()) for language, words in _ASKING_WORDS.items()}
# What a word of at least four letters begins with, without its ending and its accents: the least
# that is left. Of English words Porter's rules, which SQLite has, take the ending off.
_BEGINNINGS = {
    language: re.compile(rf"([a-zß]{{4,}}?)(?:{endings})?")
    for language, endings in (
        ("de", "ungen|ung|tet|ten|te|et|ern|em|en|er|es|e|n|s|t"),
        ("fr", "(iss)?ements?|ations?|euses?|a?teurs?|eurs?|e?es?|[ea]nt|aux|ez|[ei]r|re|s|x"),
        ("es", "acion(es)?|amientos?|a?mente|(a|ie)ndo|ador[ae]?s?|[ai]d[ao]s?|[aei][nr]|[aeo]?s?"),
    )
}
# Of a text's words. Measured: English passages mostly have 20 to 40 %, shelves of other languages
# 2 to 8 %, numbers counted [docs/decisions/0034-a-bar-by-the-words-of-the-nearest.md].
_ENGLISH = 0.15
_HIRAGANA = re.compile("[\u3040-\u309f]+")  # alone it is grammar, as in "ですか", or no rare word


@dataclass(frozen=True, kw_only=True)
class Matches:
    """
    Of a question and several passages. `scores` are by position, 0 or more, and grow with
    relevance: BM25 among these passages.

    `shares` are by position, too: how much of the question each passage has, from 0 to 1. A word
    counts the more the fewer of these passages have it, one that none has as if one had it.

    `missing` is the share of the question's words, from 0 to 1, that none of them has. Pairs of
    letters don't count: where no spaces are, most are no words.
    """

    scores: tuple[float, ...]
    shares: tuple[float, ...]
    missing: float

    @property
    def order(self) -> list[int]:
        """The positions of those that match at all, the best first."""
        matching = [at for at, score in enumerate(self.scores) if score]
        return sorted(matching, key=lambda at: -self.scores[at])


def matched(question: str, texts: Sequence[str]) -> Matches:
    """How well each of the texts matches the question's words, among all of them."""
    words, stemming = _terms(*_words_and_language(question))
    if not words or not texts:
        nothing = (0.0,) * len(texts)
        return Matches(scores=nothing, shares=nothing, missing=0.0)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(_TEXTS.format(stemming))
        database.executemany("INSERT INTO texts (text) VALUES (?)", [(spaced(t),) for t in texts])
        having = {word: _rows(database, [word]) for word in words}
        found = _rows(database, words)
    scores = tuple(found.get(row, 0.0) for row in range(1, len(texts) + 1))
    return Matches(scores=scores, shares=_shares(having, len(texts)), missing=_missing(having))


def words_of(question: str) -> list[str]:
    """Those that say what it is about, each once; all of them if it has no others."""
    return _words_and_language(question)[0]


def _words_and_language(question: str) -> tuple[list[str], str]:
    words = list(dict.fromkeys(_WORD.findall(spaced(question).lower())))
    language = max(_ASKING, key=lambda each: len(_ASKING[each].intersection(words)))
    asking = _ASKING[language]
    about = [word for word in words if word not in asking and not _HIRAGANA.fullmatch(word)]
    return (about or words)[:_MOST_WORDS], language


def _terms(words: Sequence[str], language: str) -> tuple[list[str], str]:
    """
    The words of a question, each as a query to FTS5: for itself, or for all that begin so. And what
    stems the texts' words: nothing where beginnings are asked for, which Porter's rules would
    change.
    """
    if language not in _BEGINNINGS:
        return [f'"{word}"' for word in words], "porter "
    found = [_BEGINNINGS[language].fullmatch(_unaccented(word)) for word in words]
    return [
        f'"{word}"' if begins is None else f'"{begins[1]}" *'
        for word, begins in zip(words, found, strict=True)
    ], ""


def is_english(text: str) -> bool:
    """By how many of its words are asking words; too short a text, or mere keywords, is not."""
    words = [word for word in _WORD.findall(spaced(text).lower()) if not word.isdigit()]
    asking = sum(word in _ASKING["en"] for word in words)
    return asking > 0 and asking >= _ENGLISH * len(words)


def _unaccented(word: str) -> str:
    letters = unicodedata.normalize("NFD", word)
    return "".join(each for each in letters if not unicodedata.combining(each))


def is_unspaced(word: str) -> bool:
    """Whether it is a pair of letters, of a script that puts no spaces between words."""
    return _UNSPACED.search(word) is not None


def spaced(text: str) -> str:
    """With spaces between any two letters, as they overlap, where a script has none."""
    storable = text.encode(errors="replace").decode()  # half a surrogate pair is no text to SQLite
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", storable)


def _shares(having: Mapping[str, Collection[int]], count: int) -> tuple[float, ...]:
    weights = {word: _weight(max(1, len(rows)), count) for word, rows in having.items()}
    whole = sum(weights.values())
    return tuple(
        sum(weights[word] for word, rows in having.items() if row in rows) / whole
        for row in range(1, count + 1)
    )


def _weight(having: int, count: int) -> float:
    """Of a word that so many of the passages have: what BM25 gives it, in Lucene's form."""
    return math.log1p((count - having + 0.5) / (having + 0.5))


def _missing(having: Mapping[str, Collection[int]]) -> float:
    counted = [rows for word, rows in having.items() if not is_unspaced(word)]
    return sum(not rows for rows in counted) / len(counted) if counted else 0.0


def _pairs(run: str) -> Iterable[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _rows(database: sqlite3.Connection, terms: Sequence[str]) -> dict[int, float]:
    """Those with any of the terms, and how well they match by BM25."""
    any_of = " OR ".join(terms)
    # FTS5's bm25() is the better the smaller, and always below 0.
    found = database.execute("SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?", (any_of,))
    return dict(found.fetchall())


# Beside the asking words what says nothing to an eye that looks for what the question is about. The
# search weighs these words: they are rare enough in few passages, and a name may be one of them.
_COMMON_WORDS = {
    "en": """
above after again against all allow allowed almost also although always another around away back
because become before behind below besides between both come comes did different done down during
each either else enough especially etc even ever every few first following further gave get gets
getting give given gives go goes going got he help her here hers him his however instead just keep
kept kind know last later least less let like likely long look made main make makes making more most
mostly much never new next no nor nothing now often old once one only onto other others otherwise
out outside over own part per possible put rather really same say says see seen several she show
since something still such sure take taken takes tell than though through thus together too toward
two under until up upon us use used uses using usually various very via want wants way ways well
went whatever while whole within without works yes yet
d ll m re s t ve
""",
    "de": """
ab also andere anderen anderer anderes bereits besonders bis bitte da dabei dafür dann daran darf
darüber davon dazu deren dessen doch dort eigentlich einige erst etc etwas ganz gar gerne gilt genau
gut hier hinter ihm ihn ihnen ihre ihrem ihren ihrer immer jede jedem jeden jeder jedes jetzt lange
lassen macht machen mal mit neben neu nichts nie nun schon sehr seit selbst sowie statt trotz über
unter viel viele vielen während wieder wollen worden wurde wurden würde zwei
""",
    "fr": """
afin ainsi alors après assez aucun aucune aussi autre autres avant avoir beaucoup bien cela celle
celui chaque chez contre depuis dernier deux doivent encore ensuite entre faire fois hors ici jamais
jusque longtemps mieux moins même mêmes notamment peu peuvent plusieurs premier presque près quelque
quelques rien sans selon sera seulement soit sous souvent tel telle toujours très trop vers voir
voici était été être
""",
    "es": """
además ahora algo alguna algunas alguno algunos así aunque bajo bien cada casi contra cual dos
durante embargo entonces estar fueron hacen hasta hora igual jamás luego mayor mejor menos mientras
mismo
misma mucha muchas mucho muchos nada nunca otra otras otro otros parte poco pocos podemos primero
pueden pues quien ser siempre sino sólo solo tal tampoco tan tanto tener tienen tras vez veces
""",
}
_COMMON = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
_FEW = 2  # words, that somebody looks for whatever they are

_OPEN, _CLOSE = "\x02", "\x03"
_MARKS = re.compile(f"[{_OPEN}{_CLOSE}]")
_OURS = re.compile(f"[\x00{_OPEN}{_CLOSE}]")  # at a zero SQLite ends a text


@dataclass(frozen=True)
class MarkedPiece:
    text: str
    is_marked: bool


def marked_pieces(question: str, text: str) -> tuple[MarkedPiece, ...]:
    """
    The text in pieces, for whoever shows it to a person; together they are all of it. A word is
    marked in any of its forms that the search by words takes for the same; the asking words ("how",
    "the") are none, nor is what stands in every text ("between", "other"), unless nothing else was
    looked for.
    """
    text = _OURS.sub(" ", text).encode(errors="replace").decode()
    words, language = _words_and_language(question)
    words = _telling(words, language)
    pairs = [word for word in words if is_unspaced(word)]
    terms, stemming = _terms(words, language)
    spaced_terms = [term for term in terms if not is_unspaced(term)]
    ranges = [*_of_terms(spaced_terms, stemming, text), *_of_pairs(pairs, text)]
    return tuple(_pieces(text, _merged(ranges)))


def _telling(words: list[str], language: str) -> list[str]:
    common = _COMMON[language] | _ASKING[language]
    telling = [word for word in words if word not in common]
    return telling or (words if len(words) <= _FEW else [])


def _of_terms(terms: Iterable[str], stemming: str, text: str) -> list[tuple[int, int]]:
    query = " OR ".join(terms)
    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(_TEXTS.format(stemming))
        database.execute("INSERT INTO texts (text) VALUES (?)", (text,))
        found = database.execute(
            "SELECT highlight(texts, 0, ?, ?) FROM texts WHERE texts MATCH ?",
            (_OPEN, _CLOSE, query),
        ).fetchone()
    return [] if found is None else _between_marks(found[0])


def _between_marks(highlighted: str) -> list[tuple[int, int]]:
    """Positions in the text as it was before the marks."""
    ranges, begins = [], 0
    for number, mark in enumerate(_MARKS.finditer(highlighted)):
        at = mark.start() - number
        if mark[0] == _OPEN:
            begins = at
        else:
            ranges.append((begins, at))
    return ranges


def _of_pairs(pairs: Iterable[str], text: str) -> Iterator[tuple[int, int]]:
    lowered = text.lower() if len(text.lower()) == len(text) else text
    for pair in pairs:
        for match in re.finditer(f"(?={re.escape(pair)})", lowered):
            yield match.start(), match.start() + len(pair)


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _pieces(text: str, ranges: Iterable[tuple[int, int]]) -> Iterator[MarkedPiece]:
    at = 0
    for begin, end in ranges:
        if at < begin:
            yield MarkedPiece(text[at:begin], is_marked=False)
        yield MarkedPiece(text[begin:end], is_marked=True)
        at = end
    if at < len(text):
        yield MarkedPiece(text[at:], is_marked=False)
