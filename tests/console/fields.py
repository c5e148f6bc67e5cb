"""Every field of every body that the console takes, and what none of them takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from stackroom.agents.bounds import LONGEST_MESSAGE
from stackroom.agents.exchange import LARGEST
from stackroom_console.endpoint import Endpoint, Kind


@dataclass(frozen=True, kw_only=True)
class Text:
    """`called` is how the sentence names it where its name in the body would say less."""

    good: str
    longest: int
    may_be_empty: bool = False
    called: str | None = None


@dataclass(frozen=True, kw_only=True)
class Number:
    good: float
    least: int
    most: int
    is_whole: bool = True
    may_be_empty: bool = False
    called: str | None = None


Field = Text | Number

_ABOUT = Text(good="About", longest=500, may_be_empty=True)
_AGENT: Mapping[str, Field] = {
    "name": Text(good="Mine", longest=100),
    "description": _ABOUT,
    "model": Text(good="amazon.nova-lite-v1:0", longest=2048),
    "system_prompt": Text(good="Be kind.", longest=20_000, may_be_empty=True),
}
_TOOL = Text(good="search_mine", longest=64)
_TOLD = Text(good="Mine", longest=500)
_TOP = Number(good=5, least=1, most=20)
_SCORE = Number(good=0.5, least=0, most=1, is_whole=False)
_WIRE: Mapping[str, Field] = {
    "toolName": _TOOL,
    "toolDescription": _TOLD,
    "defaultTopK": _TOP,
    "defaultMinScore": _SCORE,
}
_MESSAGE: Mapping[str, Field] = {"message": Text(good="Why?", longest=LONGEST_MESSAGE)}


def _labelled(
    fields: Mapping[str, Field], labels: Mapping[str, tuple[str, str]]
) -> dict[str, Field]:
    """As a form has them: by its own names, and told by the labels that stand beside them."""
    return {name: replace(fields[wire], called=label) for wire, (name, label) in labels.items()}


_FORM = _labelled(
    _WIRE,
    {
        "toolName": ("tool_name", "Tool name"),
        "toolDescription": ("tool_description", "Tool description"),
        "defaultTopK": ("top_k", "Top K results"),
        "defaultMinScore": ("min_score", "Similarity threshold"),
    },
)
_BUILDER = _labelled(
    _AGENT,
    {
        "name": ("name", "Name"),
        "description": ("description", "Description"),
        "model": ("model", "Model"),
        "system_prompt": ("system_prompt", "Prompt"),
    },
)
_CHAT = _labelled(_MESSAGE, {"message": ("message", "Question")})
_LINKS = "/api/agents/{agent_id}/knowledge-base-tools"

# By method and path; the form's names say the field where the sentence says what it is for.
FIELDS: Mapping[tuple[str, str], Mapping[str, Field]] = {
    ("POST", "/catalogs"): {
        "name": Text(good="Harbours", longest=100, called="name"),
        "description": replace(_ABOUT, called="Description"),
    },
    ("POST", "/catalogs/{catalog_id}/uploads"): {
        "filename": Text(good="a.txt", longest=1024),
        "size": Number(good=1, least=1, most=50 * 1024 * 1024, called="The file"),
    },
    ("POST", "/ask"): {
        "query": Text(good="Why?", longest=1000, called="Question"),
        "most": Number(good=5, least=1, most=20, may_be_empty=True, called="Passages at most"),
    },
    ("POST", "/agents"): _BUILDER,
    ("POST", "/agents/import"): {"agent": Text(good="{}", longest=LARGEST, called="the file")},
    ("POST", "/agents/{agent_id}"): _BUILDER,
    ("POST", "/agents/{agent_id}/chat"): _CHAT,
    ("POST", "/agents/{agent_id}/knowledge-bases"): {},
    ("POST", "/agents/{agent_id}/knowledge-bases/{knowledge_base_id}"): _FORM,
    ("POST", "/agents/{agent_id}/tools/{tool_id}/edit"): _FORM,
    ("POST", "/api/agents"): _AGENT,
    ("PATCH", "/api/agents/{agent_id}"): _AGENT,
    ("POST", _LINKS): _WIRE,
    ("PATCH", _LINKS + "/{tool_id}"): _WIRE,
    ("POST", "/api/agents/{agent_id}/runs"): _MESSAGE,
}
# They are told all by their addresses.
BODILESS = {
    ("POST", "/sign-out"),
    ("POST", "/sign-out/everywhere"),
    ("POST", "/catalogs/{catalog_id}/delete"),
    ("POST", "/catalogs/{catalog_id}/retry"),
    ("POST", "/catalogs/{catalog_id}/documents/{document_id}/retry"),
    ("POST", "/catalogs/{catalog_id}/documents/{document_id}/delete"),
    ("POST", "/agents/{agent_id}/delete"),
    ("POST", "/agents/{agent_id}/tools/{tool_id}/delete"),
    ("POST", "/runs/{run_id}/cancel"),
    ("DELETE", "/api/agents/{agent_id}"),
    ("DELETE", "/api/agents/{agent_id}/tools/{tool_id}"),
    ("POST", "/api/runs/{run_id}/cancel"),
}
_UNSEEN = ("\x00", "\x07", "\x1b", "\x7f", "\x85", "\u202e", "\u2066", "\u200f")


def bad(endpoint: Endpoint) -> Iterator[tuple[str, object]]:
    """A field of the endpoint, and what it doesn't take."""
    is_api = endpoint.kind is Kind.API
    for name, field in FIELDS[endpoint.method, endpoint.path].items():
        for value in _bad_texts(field) if isinstance(field, Text) else _bad_numbers(field, is_api):
            yield name, value
        if is_api:
            others: tuple[object, ...] = ([], {}, True, ["a"], {"a": {"b": []}})
            for value in (*others, 7) if isinstance(field, Text) else (*others, "5"):
                yield name, value


def good(endpoint: Endpoint) -> dict[str, object]:
    fields = FIELDS[endpoint.method, endpoint.path]
    return {name: field.good for name, field in fields.items()}


def _bad_texts(field: Text) -> Iterator[str]:
    yield "a" * (field.longest + 1)
    if not field.may_be_empty:
        yield from ("", " ", "\t\n")
    for each in _UNSEEN:
        yield f"{field.good}{each}b"


def _bad_numbers(field: Number, is_api: bool) -> Iterator[object]:
    yield from (field.least - 1, field.most + 1, -1e300, 10**400 if is_api else "9" * 5000)
    if field.is_whole:
        yield 1.5
    if not is_api:
        yield from () if field.may_be_empty else ("",)
        yield from ("five", "NaN", "inf", "1e3", "0x10", "\u0665", "5\x00", "\u202e5", "1_0")
