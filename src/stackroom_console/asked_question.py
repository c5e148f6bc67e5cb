"""
A question of the page Ask, and what is searched for it: some catalogs or all, some files, documents
with certain attributes. Its address keeps all of that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from stackroom.errors import ValidationError
from stackroom.model.attributes import AttributeType, AttributeTypes, known_types
from stackroom.model.records import Catalog
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE, RetrieveArguments
from stackroom_agents.user_agents.agent_run import SearchedPart
from stackroom_console import ids
from stackroom_console.messages import N_, gettext
from stackroom_console.request import whole_number

MOST = 20  # passages
DEFAULT = 5
MOST_CATALOGS = 10  # each is a search of its own, and answers share a hundred passages
MOST_FILES = 5  # of one condition of a filter
LABELS = {
    "query": N_("Question"),
    "top_k": N_("Number of passages"),
    "min_score": N_("Similarity threshold"),
    "filter": N_("Files and attributes"),
}
SCORE_ALLOWED = N_("Similarity threshold: Allowed: a number from 0 to 1")
_MOST_NAMES = 12  # of attributes, that a form lists
_UNSHOWN = {"document_id", "filename", "uploaded_ts"}
_BETWEEN = ";"
# A name as it is, or in quotation marks, of which those within it are doubled.
_NAME = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"\s*(?=;|\Z)|(?P<plain>[^;]*))(?:;|\Z)')
_CONDITION = re.compile(r"\s*([^<>=]{1,100}?)\s*(>=|<=|=|>|<)\s*(.{1,500}?)\s*")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]{1,15})?")
_SCORE = re.compile(r"[01]|[01]?\.[0-9]{1,17}|1e-[0-9]")  # as browsers write what was typed
# Bytes of an address. Three headers may have it, beside cookies, and API Gateway bounds them all;
# a longer question is answered, and has no address.
LONGEST_ADDRESS = 1_400


@dataclass(frozen=True, kw_only=True)
class SearchChoice:
    """
    A choice of what to search: no catalog means all of them. `files` are names, and `attributes`
    conditions such as `year >= 2025`, with semicolons between them, as somebody typed them
    (`file_names`).
    """

    catalog_ids: tuple[str, ...] = ()
    files: str = ""
    attributes: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The choice as parameters of an address."""
        parameters = {
            "catalog": ",".join(self.catalog_ids),
            "file": self.files,
            "where": self.attributes,
        }
        return {name: each for name, each in parameters.items() if each}

    def filter(self, catalogs: Iterable[Catalog]) -> dict[str, object]:
        """
        Return the filter as `search_filter_argument` reads it; `catalogs` know attributes' types.
        """
        types = known_types(each.attribute_types for each in catalogs)
        found: dict[str, object] = {}
        if files := [name for name, _ in file_names(self.files) if name]:
            if len(files) > MOST_FILES:
                raise ValidationError(
                    gettext("Files: Allowed: at most %(most)s") % {"most": MOST_FILES}
                )
            found["filename"] = files
        for each in _parts(self.attributes):
            name, operator, value = _condition(each, types)
            if operator == "=":
                found[name] = value
            else:
                there = found.get(name)
                found[name] = {**(there if isinstance(there, dict) else {}), operator: value}
        return found


@dataclass(frozen=True, kw_only=True)
class Question:
    """
    A question as its form has it. A page that shows an answer keeps the question and its address,
    too.
    """

    query: str = ""
    choice: SearchChoice = SearchChoice()
    most: int = DEFAULT
    threshold: float | None = None  # by default none

    @property
    def address(self) -> str | None:
        """The address that shows the answer again, or None if it would be too long."""
        path = f"/ask?{self.query_string}"
        return path if self.query and len(path) <= LONGEST_ADDRESS else None

    @property
    def query_string(self) -> str:
        """The question and its settings, as an address has them."""
        settings = {
            "most": "" if self.most == DEFAULT else str(self.most),
            "threshold": "" if self.threshold is None else f"{self.threshold:g}",
        }
        given = {name: each for name, each in settings.items() if each}
        return urlencode({"q": self.query, **self.choice.settings, **given})

    @property
    def catalog_id(self) -> str | None:
        """The catalog that is searched alone."""
        return self.choice.catalog_ids[0] if len(self.choice.catalog_ids) == 1 else None

    def arguments(self, catalogs: Iterable[Catalog]) -> RetrieveArguments:
        """Raises ValidationError."""
        return KNOWLEDGE_BASE_RETRIEVE.parse(
            {
                "query": self.query,
                "top_k": self.most,
                "min_score": self.threshold,
                "catalog_id": self.catalog_id,
                "filter": self.choice.filter(catalogs),
            },
            called={name: gettext(label) for name, label in LABELS.items()},
        )


def file_names(text: str) -> Iterator[tuple[str, int]]:
    """Yield the name of each file, and where it begins in the text; the last may be empty."""
    at = 0
    while at <= len(text) and (found := _NAME.match(text, at)):
        quoted = found["quoted"]
        yield found["plain"].strip() if quoted is None else quoted.replace('""', '"'), at
        at = found.end() if found[0].endswith(_BETWEEN) else len(text) + 1


def quoted_name(name: str) -> str:
    """Return the file's name as `file_names` reads it."""
    is_plain = _BETWEEN not in name and not name.startswith('"')
    return name if is_plain else '"{}"'.format(name.replace('"', '""'))


def attribute_names(catalogs: Iterable[Catalog]) -> list[str]:
    """Return the names of attributes of documents in these catalogs, for conditions."""
    known = known_types(each.attribute_types for each in catalogs)
    return sorted(known.keys() - _UNSHOWN)[:_MOST_NAMES]


def choice_of(given: Mapping[str, str]) -> SearchChoice:
    """
    Return the choice in an address, or in a form, where a checked box is named for its catalog's
    id.
    """
    named = [*given.get("catalog", "").split(","), *filter(ids.is_catalog, given)]
    chosen = tuple(dict.fromkeys(filter(None, named)))
    if len(chosen) > MOST_CATALOGS:
        allowed = gettext("Catalogs: Allowed: all, or at most %(most)s")
        raise ValidationError(allowed % {"most": MOST_CATALOGS})
    return SearchChoice(
        catalog_ids=chosen,
        files=given.get("file", "").strip(),
        attributes=given.get("where", "").strip(),
    )


def shown_choice(given: Mapping[str, str]) -> SearchChoice:
    """Return the part of a choice that its form can show, whatever the address says."""
    with suppress(ValidationError):
        choice = choice_of(given)
        return replace(choice, catalog_ids=tuple(filter(ids.is_catalog, choice.catalog_ids)))
    return SearchChoice()


def choice_in(part: SearchedPart) -> SearchChoice:
    """The choice that a question was asked with, as its form shows it."""
    conditions = dict(part.filter)
    files = conditions.pop("filename", ())
    attributes = [
        f"{name} {operator} {_typed(value)}"
        for name, given in conditions.items()
        for operator, value in (given if isinstance(given, dict) else {"=": given}).items()
    ]
    return SearchChoice(
        catalog_ids=part.catalog_ids,
        files="; ".join(map(quoted_name, files)),
        attributes="; ".join(attributes),
    )


def question_of(given: Mapping[str, str], question: str) -> Question:
    """Return the question in a form or an address. Raises ValidationError."""
    most = given.get("most", "").strip()
    return Question(
        query=given.get(question, ""),
        choice=choice_of(given),
        most=whole_number(gettext(LABELS["top_k"]), most, least=1, most=MOST) if most else DEFAULT,
        threshold=threshold_of(given.get("threshold", "").strip()),
    )


def question_asked(text: str) -> Question:
    """Return the question of a `Question.query_string`, which forms beside an answer send."""
    return question_of(dict(parse_qsl(text)), "q")


def threshold_of(text: str) -> float | None:
    if not text:
        return None
    if not _SCORE.fullmatch(text) or float(text) > 1:
        raise ValidationError(gettext(SCORE_ALLOWED))
    return float(text)


def _parts(text: str) -> list[str]:
    return [part for each in text.split(_BETWEEN) if (part := each.strip())]


def _condition(text: str, types: AttributeTypes) -> tuple[str, str, object]:
    """Raises ValidationError."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ValidationError(
            gettext("Attributes: Allowed: conditions such as year >= 2025, separated by semicolons")
        )
    name, operator, value = found.groups()
    return name, operator, _value(value, types.get(name, frozenset(AttributeType)))


def _typed(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(text: str, kinds: frozenset[AttributeType]) -> object:
    """Return the value with one of the types that documents have there: `2025` may be a text."""
    if AttributeType.NUMBER in kinds and _DECIMAL.fullmatch(text):
        return float(text) if "." in text else int(text)
    if AttributeType.BOOLEAN in kinds and text in ("true", "false"):
        return text == "true"
    return text
