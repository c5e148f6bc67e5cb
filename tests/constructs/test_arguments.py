from docs.constructs import CLASSES, PAGE, table, with_arguments


def test_the_page_tells_of_arguments_as_they_are() -> None:
    text = PAGE.read_text("utf-8")

    assert with_arguments(text) == text, "run: make docs"
    assert all(table(described).count("\n") > 1 for described in CLASSES)
