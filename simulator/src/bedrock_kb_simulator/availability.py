"""Whether a model may be asked, as Bedrock tells without it being asked: rule models.available."""

from dataclasses import dataclass

from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.identifiers import Arns

_THERE = "AVAILABLE"


@dataclass(frozen=True, kw_only=True)
class Availability:
    arns: Arns

    def of_model(self, parameters: Parameters) -> Parameters:
        return {
            "modelId": parameters["modelId"],
            "agreementAvailability": {"status": _THERE},
            "authorizationStatus": "AUTHORIZED",
            "entitlementAvailability": _THERE,
            "regionAvailability": _THERE,
        }

    def of_profile(self, parameters: Parameters) -> Parameters:
        """Of those that are AWS's own, by their ids."""
        profile = parameters["inferenceProfileIdentifier"]
        where, _, model = profile.partition(".")
        in_region = f"arn:aws:bedrock:{self.arns.region}"
        return {
            "inferenceProfileId": profile,
            "inferenceProfileName": f"{where} {model}",
            "inferenceProfileArn": f"{in_region}:{self.arns.account}:inference-profile/{profile}",
            "models": [{"modelArn": f"{in_region}::foundation-model/{model}"}],
            "status": "ACTIVE",
            "type": "SYSTEM_DEFINED",
        }
