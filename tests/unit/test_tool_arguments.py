"""Clients' substitutes for an argument: nothing, or its value in another type."""

from typing import Any

import pytest

from functions.tool_targets import STANDALONE, TARGETS
from stackroom.access.tool import Arguments, Tool
from stackroom.errors import ValidationError
from stackroom.search.search_arguments import RETRIEVE_FROM_KNOWLEDGE_BASE

TOOLS = [
    (target, tool)
    for target, tools in {
        **TARGETS,
        **STANDALONE,
        "agents": (RETRIEVE_FROM_KNOWLEDGE_BASE,),
    }.items()
    for tool in tools
]
NAMED: dict[str, Tool[Any]] = {tool.name: tool for _, tool in TOOLS if _ in TARGETS}
NEEDED = {
    "catalog_id": "cat-1",
    "document_id": "doc-1",
    "catalog_name": "Leave",
    "filename": "leave.txt",
    "query": "leave?",
    "question": "leave?",
    "helpful": True,
}
DECISIONS = {"confirm", "replace"}
NOTHING = [None, "", " \t", "null", "None", "undefined", "NULL", " null\n"]
LISTS = [["null"], ["None", None], [""], []]


def needed(tool: Tool[Any]) -> dict[str, object]:
    schema = tool.definition()["inputSchema"]
    return {name: NEEDED[name] for name in schema.get("required", ())}


@pytest.mark.parametrize(("target", "tool"), TOOLS)
def test_null_words_omit_an_optional_argument(target: str, tool: Tool[Arguments]) -> None:
    given = needed(tool)
    optional = set(tool.arguments.model_fields) - set(given) - DECISIONS

    for nothing in (*NOTHING, *LISTS):
        assert tool.parse({**given, **dict.fromkeys(optional, nothing)}) == tool.parse(given)


@pytest.mark.parametrize(
    ("tool", "argument"), [("delete_catalog", "confirm"), ("upload_to_catalog", "replace")]
)
def test_decision_accepts_only_true_false_or_omission(tool: str, argument: str) -> None:
    decided = NAMED[tool]
    given = needed(decided)

    for other in (*NOTHING[1:], *LISTS, "true", "false", 1, 0):
        with pytest.raises(ValidationError, match=argument):
            decided.parse({**given, argument: other})
    assert getattr(decided.parse({**given, argument: None}), argument) is False
    assert getattr(decided.parse({**given, argument: True}), argument) is True


@pytest.mark.parametrize(
    ("tool", "argument", "given", "meant"),
    [
        ("query_catalog", "num_results", "7", 7),
        ("query_catalog", "num_results", 7.0, 7),
        ("feedback", "helpful", "true", True),
        ("knowledge_base_retrieve", "min_score", "0.5", 0.5),
    ],
)
def test_number_or_boolean_as_text_is_taken_as_it_reads(
    tool: str, argument: str, given: object, meant: object
) -> None:
    parsed = getattr(NAMED[tool].parse({**needed(NAMED[tool]), argument: given}), argument)

    assert (parsed, type(parsed)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("tool", "argument", "given"),
    [
        ("list_events", "after", "1,000"),
        ("list_events", "limit", "ten"),
        ("list_events", "limit", "7.5"),
        ("list_events", "limit", True),
        ("query_catalog", "num_results", "21"),
        ("knowledge_base_retrieve", "min_score", "nan"),
    ],
)
def test_ambiguous_text_for_a_number_or_boolean_is_refused(
    tool: str, argument: str, given: object
) -> None:
    with pytest.raises(ValidationError, match=f"{argument}: "):
        NAMED[tool].parse({**needed(NAMED[tool]), argument: given})


OBJECTS = [("knowledge_base_retrieve", "filter"), ("upload_to_catalog", "metadata")]


@pytest.mark.parametrize(("tool", "argument"), OBJECTS)
def test_json_text_of_an_object_is_taken_as_the_object(tool: str, argument: str) -> None:
    asked = NAMED[tool]
    given = needed(asked)
    meant = asked.parse({**given, argument: {"dept": "hr", "site": ["Oslo", "Bergen"]}})

    for text in (
        '{"dept": "hr", "site": ["Oslo", "Bergen"]}',
        ' {"dept":"hr",\n"site":["Oslo","Bergen"]} ',
        '[{"name": "dept", "value": "hr"}, {"name": "site", "value": ["Oslo", "Bergen"]}]',
    ):
        assert asked.parse({**given, argument: text}) == meant
    assert asked.parse({**given, argument: "{}"}) == asked.parse(given)


@pytest.mark.parametrize(("tool", "argument"), OBJECTS)
def test_text_that_is_no_object_is_refused_by_its_argument(tool: str, argument: str) -> None:
    asked = NAMED[tool]

    for text in (
        "hr",
        "5",
        '"dept"',
        "{'dept': 'hr'}",
        '{"dept": "hr"',
        '{"user_id": "bob"',
        "[" * 100_000,
        '{"dept": "\\ud800"}',
        '["dept"]',
    ):
        with pytest.raises(ValidationError, match=f"^{argument}: "):
            asked.parse({**needed(asked), argument: text})


def test_filter_given_as_text_cannot_name_a_user() -> None:
    with pytest.raises(ValidationError, match="may not name 'user_id'"):
        NAMED["knowledge_base_retrieve"].parse({"query": "x", "filter": '{"user_id": "bob"}'})


@pytest.mark.parametrize(("target", "tool"), TOOLS)
def test_arguments_that_are_no_object_get_one_sentence(target: str, tool: Tool[Arguments]) -> None:
    for given, kind in ((["x"], "a list"), ('{"query": "x"}', "a text"), (7, "a single value")):
        with pytest.raises(ValidationError) as refused:
            tool.parse(given)

        assert str(refused.value) == (
            f"the arguments are {kind}; send a JSON object that has each argument under its name,"
            ' such as {"query": "annual leave"}'
        )
