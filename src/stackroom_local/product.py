"""The product's own use cases over what is deployed here, for the verbs that do something."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stackroom.aws.deployment import Deployment
from stackroom.aws.settings import AdmissionSettings, LimitSettings
from stackroom.aws.use_cases import UseCases
from stackroom_local.clients import client
from stackroom_local.state import Instance, endpoint_variables

_SUFFIX = "-kb-control"


class StoreSettings(LimitSettings):
    """What whoever serves has told us; enough to look at what is there."""

    ingest_speed: float

    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str


class Deployed(AdmissionSettings):
    """The environment of the deployed `ingest` function, which has all that the verbs need."""

    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    state_machine_arn: str


@dataclass(frozen=True)
class Product:
    """Of what a verb only looks at, no function has to be asked: that is in `looking`."""

    instance: Instance

    def client(self, service: str) -> Any:
        specific = endpoint_variables(self.instance.aws_endpoint, self.instance.simulator_endpoint)
        variable = "AWS_ENDPOINT_URL_" + service.replace("-", "_").upper()
        return client(service, specific.get(variable, self.instance.aws_endpoint))

    @property
    def project(self) -> str:
        return self.instance.control_table.removesuffix(_SUFFIX)

    @property
    def stores(self) -> Deployment:
        return self.looking.deployment

    @cached_property
    def looking(self) -> UseCases:
        settings = StoreSettings(
            kb_catalog_table=self.instance.catalog_table,
            kb_control_table=self.instance.control_table,
            kb_docs_bucket=self.instance.bucket,
            ingest_speed=self.instance.speed,
        )
        return UseCases.of(settings, self.client)

    @cached_property
    def use_cases(self) -> UseCases:
        name = f"{self.project}-ingest"
        answer = self.client("lambda").get_function_configuration(FunctionName=name)
        return UseCases.of(Deployed.from_env(answer["Environment"]["Variables"]), self.client)
