"""Textract's adapter, against the simulator's wire."""

from collections.abc import Iterator

import pytest

from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests import files
from simulator.tests.world import client
from stackroom.aws.textract.text_detection import TextractDetection
from stackroom.text.text_lines import text_in_order

pytestmark = [pytest.mark.processes, pytest.mark.slow]


@pytest.fixture(scope="module")
def detection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TextractDetection]:
    configuration = Configuration(data_dir=tmp_path_factory.mktemp("textract"))
    with Simulator(configuration) as simulator:
        yield TextractDetection(client=client("textract", simulator.endpoint))


def test_lines_of_a_picture_come_back_with_their_places(detection: TextractDetection) -> None:
    lines = detection.lines(files.photograph("Annex B\nThe notice period is nine weeks."))

    assert text_in_order(lines) == "Annex B\nThe notice period is nine weeks."
    assert all(90 < each.confidence <= 100 and 0 < each.left < 0.5 for each in lines)


@pytest.mark.parametrize("picture", [b"GIF89a", files.photograph("Annex B")[:2_000]])
def test_picture_that_can_not_be_read_has_no_lines(
    detection: TextractDetection, picture: bytes
) -> None:
    assert detection.lines(picture) == ()
