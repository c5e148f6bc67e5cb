"""What the scripted Bedrock's Retrieve finds: whatever is indexed and meets the filter."""

from collections.abc import Iterable

from tests.workflow.bedrock_records import Answer


def results(passages: Iterable[Answer], asked: Answer) -> list[Answer]:
    """Of passages known by their attributes; in no order, for nothing here has a meaning."""
    search = asked["retrievalConfiguration"]["vectorSearchConfiguration"]
    found = [each for each in passages if _meets(each, search["filter"])]
    return [
        {"content": {"type": "TEXT", "text": "a passage"}, "score": 0.5, "metadata": attributes}
        for attributes in found[: search["numberOfResults"]]
    ]


def _meets(attributes: Answer, condition: Answer) -> bool:
    [(operator, operand)] = condition.items()
    match operator:
        case "equals":
            value = attributes.get(operand["key"])
            return bool(
                operand["value"] in value if isinstance(value, list) else value == operand["value"]
            )
        case "andAll":
            return all(_meets(attributes, each) for each in operand)
        case "orAll":
            return any(_meets(attributes, each) for each in operand)
    raise AssertionError(f"the product sends no filter {operator!r}")
