"""
The words of a question in the passages that were found for it.

Words are compared by their stems (Snowball's), ignoring case and accents. A German word also
matches compounds that begin with its stem. Chinese, Japanese and Korean put no spaces between
words, so each pair of neighbouring letters counts as a word.
"""

import math
import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Self, TypeVar

import Stemmer

_WORD = re.compile(r"[^\W_]+")
# Han, kana and Hangul, in runs.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_SENTENCE_END = re.compile(r'\s*[.?!:"]|[^\S\n]*\n')
_HIRAGANA = re.compile("[\u3040-\u309f]+")  # alone it is grammar, as in "ですか", or no rare word
_MOST_WORDS = 60  # of a question that are compared: it may be a thousand characters long
_SIDE_BY_SIDE = 12  # letters at most between two words: a short word or two
_BEGINNING = 3  # letters that a word and its stem share; what begins otherwise isn't stemmed
_ACCENTED = "\x80-\U0010ffff"  # whatever may be one of these letters with an accent
_ACCENT = re.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]")  # of a Latin letter
_COMPOUND = 4  # letters of a German stem that may begin a compound
# Words that a question is asked with say nothing of its subject. The shortest lists that help:
# words that most passages have weigh next to nothing by themselves. The language whose words a
# question has most of is its own; of equals the first.
_ASKING_WORDS = {
    "en": """
a about am an and any are as at be been but by can could did do does for from had has have how i if
in into is it its many may me might much must my need not of on or our please s shall should so some
such t tell than that the their them then there these they this those to us was we were what when
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
_STEMMERS = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}


Place = tuple[str, int, int]  # a stem, and where its word begins and ends


@dataclass(frozen=True, kw_only=True)
class Matches:
    """
    How much of a question each of several passages has, from 0 to 1, by position.

    `shares` are the shares of the question's words; `pairs` are the shares of its pairs of
    neighbouring words that stand side by side in the passage, in either order. A word counts more,
    the fewer of these passages have it; a word that no passage has counts as if one had it.
    """

    shares: tuple[float, ...]
    pairs: tuple[float, ...]

    @property
    def order(self) -> list[int]:
        """The positions of the passages that match at all, the best first."""
        matching = [at for at, share in enumerate(self.shares) if share]
        return sorted(matching, key=lambda at: -self.shares[at])


def matched(question: str, texts: Sequence[str]) -> Matches:
    words = QuestionWords.of(question)
    places = [tuple(words.places_in(spaced(text))) for text in texts]
    found = [stems_of(each) for each in places]
    weights = {
        stem: rarity(sum(stem in each for each in found), len(texts)) for stem in words.stems
    }
    stems = dict.fromkeys(stem(word, words.language) for word in words.words)
    pairs = {frozenset(pair): sum(map(weights.__getitem__, pair)) for pair in pairwise(stems)}
    return Matches(
        shares=_shares(weights, found),
        pairs=_shares(pairs, [_side_by_side(each) & pairs.keys() for each in places]),
    )


def stems_of(places: Iterable[Place]) -> frozenset[str]:
    return frozenset(stem for stem, _, _ in places)


_Part = TypeVar("_Part", bound=Hashable)


def _shares(weights: Mapping[_Part, float], found: Sequence[Set[_Part]]) -> tuple[float, ...]:
    whole = sum(weights.values()) or 1.0
    return tuple(sum(map(weights.__getitem__, each)) / whole for each in found)


def _side_by_side(places: Sequence[Place]) -> frozenset[frozenset[str]]:
    """Return the pairs of stems with at most a short word between them."""
    return frozenset(
        frozenset((one, other))
        for (one, _, end), (other, start, _) in pairwise(places)
        if start - end <= _SIDE_BY_SIDE
    )


def rarity(matching: int, count: int) -> float:
    """Return BM25's weight, in Lucene's form, of a word that `matching` of `count` texts have."""
    matching = max(1, matching)
    return math.log1p((count - matching + 0.5) / (matching + 0.5))


@dataclass(frozen=True)
class QuestionWords:
    """The words that say what a question is about, or all of its words if none do."""

    words: tuple[str, ...]
    language: str
    names: frozenset[str] = frozenset()  # of them, those written as names are, and numbers

    @classmethod
    def of(cls, question: str) -> Self:
        words = list(dict.fromkeys(split_words(question)))
        # The language that the question has most asking words of; of equals the first.
        language = max(_ASKING, key=lambda each: len(_ASKING[each].intersection(words)))
        asking = _ASKING[language]
        about = [word for word in words if word not in asking and not _HIRAGANA.fullmatch(word)]
        return cls(
            tuple((about or words)[:_MOST_WORDS]), language, frozenset(_named(question, language))
        )

    @property
    def named(self) -> Self:
        """A copy with only the names and numbers of the question."""
        return replace(self, words=tuple(word for word in self.words if word in self.names))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem(word, self.language) for word in self.words)

    def places_in(self, text: str) -> Iterator[Place]:
        """Yield each stem that the text has, with the start and end of its word."""
        if not self.stems:
            return
        lowered = (text.lower() if len(text.lower()) == len(text) else text).replace("_", " ")
        for match in self._candidates(lowered).finditer(lowered):
            for each in self._stems_of(match[0]):
                yield each, *match.span()

    def _candidates(self, text: str) -> re.Pattern[str]:
        """A pattern for words that begin as one of the stems does, with any accents."""
        beginnings = tuple(sorted({each[:_BEGINNING] for each in self.stems}))
        is_plain = all(map(str.isascii, beginnings)) and not _ACCENT.search(text)
        return _beginning(beginnings, "" if is_plain else _ACCENTED)

    def _stems_of(self, word: str) -> Iterable[str]:
        found = stem(word, self.language)
        if found in self.stems:
            return (found,)
        if self.language != "de":
            return ()
        plain = unaccented(word)
        return [each for each in self.stems if len(each) >= _COMPOUND and plain.startswith(each)]


def split_words(text: str, *, lower: bool = True) -> list[str]:
    """Return the words of a text in their order; an underscore separates words."""
    return _WORD.findall(spaced(text).lower() if lower else spaced(text))


def _named(question: str, language: str) -> Iterator[str]:
    """
    Yield words with a digit, in capitals or capitalised, except a sentence's first and, in German,
    nouns.
    """
    begins = True
    for match in _WORD.finditer(question):
        word = match[0]
        is_capitalised = word[0].isupper() and not begins and language != "de"
        if is_capitalised or word[1:].isupper() or any(map(str.isdigit, word)):
            yield word.lower()
        begins = _SENTENCE_END.match(question, match.end()) is not None


@lru_cache(maxsize=100)
def _beginning(beginnings: tuple[str, ...], accented: str) -> re.Pattern[str]:
    # A letter alone is found several times as fast as one of a set.
    letters = {each: f"[{each}{accented}]" if accented else each for each in "".join(beginnings)}
    any_of = "|".join("".join(map(letters.__getitem__, each)) for each in beginnings)
    return re.compile(rf"\b(?:{any_of})\w*")


@lru_cache(maxsize=50_000)
def stem(word: str, language: str) -> str:
    """A lower-case word's stem, without accents."""
    if language == "en":  # its stemmer knows no accents
        word = unaccented(word)
    # A stemmer isn't safe to share between threads, and costs little.
    return unaccented(Stemmer.Stemmer(_STEMMERS[language]).stemWord(word))


def unaccented(text: str) -> str:
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text)
    return "".join(each for each in letters if not unicodedata.combining(each))


def is_unspaced(word: str) -> bool:
    """Return True for a pair of letters of a script without spaces between words."""
    return _UNSPACED.search(word) is not None


def spaced(text: str) -> str:
    """Return the text with overlapping pairs of letters as words where a script has no spaces."""
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def _pairs(run: str) -> Iterable[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


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


@dataclass(frozen=True)
class MarkedPiece:
    text: str
    is_marked: bool


def marked_pieces(question: str, text: str) -> tuple[MarkedPiece, ...]:
    """
    Split the text into pieces that are marked or not, for display; together they are the whole
    text.

    A word is marked in each form that the search treats as the same. Question words ("how", "the")
    and words that most texts have ("between", "other") are marked only if the question has no
    others.
    """
    words = QuestionWords.of(question)
    words = QuestionWords(_distinctive(words), words.language)
    ranges = [(begin, end) for _, begin, end in words.places_in(text)]
    pairs = [word for word in words.words if is_unspaced(word)]
    return tuple(_pieces(text, _merged([*ranges, *_of_pairs(pairs, text)])))


def _distinctive(words: QuestionWords) -> tuple[str, ...]:
    common = _COMMON[words.language] | _ASKING[words.language]
    distinctive = tuple(word for word in words.words if word not in common)
    return distinctive or (words.words if len(words.words) <= _FEW else ())


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
