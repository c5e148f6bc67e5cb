"""From the marks of a model's answer to the parts that rest on passages."""

import pytest

from stackroom_local.simulator.citing import cited
from stackroom_local.simulator.vectors import Hit
from tests.simulator.holding import holds

HITS = [
    Hit(key=str(number), text=f"passage {number}", score=0.5, owner=("DS", "id"), attributes={})
    for number in (1, 2, 3)
]


@holds("generate.citations")
@pytest.mark.parametrize(
    ("answer", "text", "parts"),
    [
        ("A [1]. B [2].", "A. B.", [("A.", [1]), ("B.", [2])]),
        ("A. [1] B. [2]", "A. B.", [("A.", [1]), ("B.", [2])]),
        ("A [1] [1, 2].", "A.", [("A.", [1, 2])]),
        ('He said "A [1]".', 'He said "A".', [('He said "A".', [1])]),
        ("A [4] and [0] and [1999].", "A [4] and [0] and [1999].", []),
        ("A [1, 4].", "A [1, 4].", []),
        ("[1] A.", "A.", []),
        ("A.\n\n- B [2]\n- C [3]", "A.\n\n- B\n- C", [("A.\n\n- B", [2]), ("- C", [3])]),
        ("  A [2]  \n", "A", [("A", [2])]),
        ("A [1](https://a.example).", "A [1](https://a.example).", []),
    ],
)
def test_each_part_ends_with_its_marks(
    answer: str, text: str, parts: list[tuple[str, list[int]]]
) -> None:
    written, citations = cited(answer, HITS)

    found = []
    for citation in citations:
        part = citation["generatedResponsePart"]["textResponsePart"]
        assert written[part["span"]["start"] : part["span"]["end"] + 1] == part["text"]
        texts = [each["content"]["text"] for each in citation["retrievedReferences"]]
        found.append((part["text"], [int(each.split()[-1]) for each in texts]))
    assert (written, found) == (text, parts)
