"""The pace of an AWS that is simulated."""

from stackroom.aws.simulated_pace import SimulatedPace


def test_a_simulated_aws_is_over_sooner_by_its_speed() -> None:
    pace = SimulatedPace(20.0)

    assert pace.here(4.0) == 0.2
    assert pace.on_aws(0.2) == 4.0
