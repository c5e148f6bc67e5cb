import pytest

from stackroom.settlement.failure_reasons import reasons_by_uri

URIS = ["s3://b/a.txt", "s3://b/a.txt copy.txt", "s3://b/a.txt, old.txt", "s3://b/résumé.pdf"]


@pytest.mark.parametrize(
    ("reason", "named"),
    [
        ("Ignored 1 file [Files: s3://b/a.txt]. Call failed.", ["s3://b/a.txt"]),
        ("Issue occurred while processing file: s3://b/a.txt. Call failed.", ["s3://b/a.txt"]),
        ("file: s3://b/a.txt copy.txt", ["s3://b/a.txt copy.txt"]),
        ("[Files: s3://b/a.txt, s3://b/a.txt copy.txt]", ["s3://b/a.txt", "s3://b/a.txt copy.txt"]),
        ("[Files: s3://b/a.txt, old.txt]", ["s3://b/a.txt, old.txt"]),
        ("file: s3://b/r%C3%A9sum%C3%A9.pdf", ["s3://b/résumé.pdf"]),
        ("file: s3://b/a.txt.bak", []),
        ("the role may not", []),
    ],
)
def test_a_reason_is_of_the_files_it_names_and_no_others(reason: str, named: list[str]) -> None:
    assert sorted(reasons_by_uri(URIS, [reason])) == sorted(named)


def test_a_reason_is_told_without_the_list_of_other_files() -> None:
    found = reasons_by_uri(
        URIS, ["Ignored 2 files as too large [Files: s3://b/a.txt, s3://b/x]. Bye."]
    )

    assert found == {"s3://b/a.txt": "Ignored 2 files as too large"}
