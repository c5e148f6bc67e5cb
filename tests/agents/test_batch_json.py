"""An answer that must be JSON."""

import pytest

from stackroom.errors import AnswerNotJson
from stackroom_agents.batch.json_answers import parsed


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("  [1, 2]\n", [1, 2]),
        ("\N{BYTE ORDER MARK}{}", {}),
        ('Sure:\n\n  ```json\n  {"a": "ä"}\n  ```\nDone.', {"a": "ä"}),
        ('{"a": "``` no block ```"}', {"a": "``` no block ```"}),
    ],
)
def test_an_object_or_an_array_is_taken_alone_or_in_one_block(answer: str, value: object) -> None:
    assert parsed(answer) == value


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (" \n", "it is empty"),
        ("thirty days", "there is no block"),
        ('```json\n{}\n```\nor\n```json\n{"a": 1}\n```', "there is 2 blocks"),
        ("```json\n30\n```", "an object or an array"),
        ('{"a": 1,}', "line 1 column"),
        ("[Infinity]", "Infinity is no number"),
        ("[1e999]", "too large"),
        ("[" + "9" * 5000 + "]", "a number that can't be read"),
        ('{"a": 1, "a": 2}', "one name twice"),
        ('["\\ud800"]', "half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_all_else_is_refused_in_words_that_hold_nothing_of_it(answer: str, problem: str) -> None:
    with pytest.raises(AnswerNotJson) as raised:
        parsed(answer)

    assert problem in raised.value.problem
    assert "thirty" not in str(raised.value)
