from functions.batch import handle_each
from functions.telemetry import logger_for

BATCH = {"Records": [{"messageId": f"m{each}", "body": str(each)} for each in range(4)]}


def test_messages_without_time_left_are_returned_unhandled() -> None:
    left = [25_000]
    begun: list[str] = []

    def handle_slowly(body: str) -> None:
        begun.append(body)
        left[0] -= 10_000

    outcomes, failed = handle_each(
        BATCH, handle_slowly, logger=logger_for("test"), time_left=lambda: left[0], needed=10_000
    )

    assert begun == ["0", "1"]
    assert list(outcomes) == ["m0", "m1"]
    assert failed == ["m2", "m3"]
