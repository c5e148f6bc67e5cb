"""Availability of models, and the models that InvokeModel accepts."""

from simulator.tests.holding import holds
from simulator.tests.world import World, client, invalid

NOVA = "us.amazon.nova-lite-v1:0"


@holds("request.not-simulated")
def test_invoke_model_refuses_models_that_write_text(world: World) -> None:
    assert "does not offer InvokeModel of" in invalid(
        world.bedrock_runtime.invoke_model, modelId=NOVA, body="{}"
    )


@holds("models.available")
def test_every_model_and_system_profile_is_available(world: World) -> None:
    bedrock = client("bedrock", world.endpoint)

    answer = bedrock.get_foundation_model_availability(modelId="amazon.nova-lite-v1:0")
    profile = bedrock.get_inference_profile(inferenceProfileIdentifier=NOVA)

    found = {answer["entitlementAvailability"], answer["regionAvailability"]}
    assert found | {answer["agreementAvailability"]["status"]} == {"AVAILABLE"}
    assert (profile["inferenceProfileId"], profile["status"]) == (NOVA, "ACTIVE")
    assert profile["models"][0]["modelArn"].endswith("::foundation-model/amazon.nova-lite-v1:0")
