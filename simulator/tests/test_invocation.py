"""What Bedrock tells of models unasked, and which InvokeModel takes."""

from simulator.tests.holding import holds
from simulator.tests.world import World, client, invalid

NOVA = "us.amazon.nova-lite-v1:0"


@holds("request.not-simulated")
def test_a_model_that_writes_text_is_asked_by_converse_alone(world: World) -> None:
    assert "does not offer InvokeModel of" in invalid(
        world.bedrock_runtime.invoke_model, modelId=NOVA, body="{}"
    )


@holds("models.available")
def test_every_model_and_every_profile_of_awss_own_is_there(world: World) -> None:
    bedrock = client("bedrock", world.endpoint)

    told = bedrock.get_foundation_model_availability(modelId="amazon.nova-lite-v1:0")
    profile = bedrock.get_inference_profile(inferenceProfileIdentifier=NOVA)

    there = {told["entitlementAvailability"], told["regionAvailability"]}
    assert there | {told["agreementAvailability"]["status"]} == {"AVAILABLE"}
    assert (profile["inferenceProfileId"], profile["status"]) == (NOVA, "ACTIVE")
    assert profile["models"][0]["modelArn"].endswith("::foundation-model/amazon.nova-lite-v1:0")
