"""
Fake resource types for ministack's CloudFormation that follow AWS's own schemas.

The schemas define required properties, valid values, and properties whose change needs a new
resource. Each type only records what would exist. So all types are treated alike: those that
ministack doesn't know (Bedrock's, AgentCore's), and those that it would accept more leniently than
AWS. https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
"""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from cfnlint.jsonschema import StandardValidator
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from ministack.core.responses import get_account_id, get_region

from tests.infra.rehearsal.names import ATTRIBUTES, REFS, name_of, own_name, too_large

Properties = dict[str, Any]
Answers = tuple[str, dict[str, str]]  # the values of Ref and of Fn::GetAtt
Key = tuple[str, str, str, str]  # account, region, type, Ref

NOBODY = ""


class Refused(Exception):
    """A type's handler refused a request."""


@dataclass(frozen=True)
class ExistingResource:
    stack: str
    logical_id: str
    properties: Properties
    attributes: dict[str, str]
    name: tuple[str, ...] | None  # unique key


@dataclass
class StandIns:
    """
    The existing resources of all accounts and regions.

    `failing` is the logical id of a resource that is refused, whatever its type.
    """

    resources: dict[Key, ExistingResource] = field(default_factory=dict)
    failing: str = NOBODY
    _made: int = 0

    def handlers(self, type_: str) -> dict[str, object]:
        """Return a type's handlers for ministack."""

        def create(logical_id: str, properties: Properties, stack: str) -> Answers:
            return self._make(type_, logical_id, properties, stack)

        def update(
            ref: str, old: Properties, new: Properties, stack: str, logical_id: str
        ) -> Answers:
            if any(_at(old, path) != _at(new, path) for path in _create_only(type_)):
                return self._make(type_, logical_id, new, stack)  # the engine deletes the old one
            return self._change(type_, ref, new)

        def delete(ref: str, _properties: Properties) -> None:
            del self.resources[_key(type_, ref)]

        return {
            "create": create,
            "update": update,
            "update_with_logical_id": True,
            "delete": delete,
        }

    def _make(self, type_: str, logical_id: str, properties: Properties, stack: str) -> Answers:
        self._made += 1
        made = f"{self._made:010d}"  # the generated part of a name or id
        known = {
            "name": own_name(type_, properties) or f"{stack}-{logical_id}-{made}",
            "id": made,
            "account": get_account_id(),
            "region": get_region(),
        }
        known["ref"] = ref = REFS.get(type_, "{name}").format(**properties, **known)
        arn = "arn:aws:{}:{region}:{account}:{name}".format(type_.split("::")[1].lower(), **known)
        attributes = dict.fromkeys(_attributes(type_), arn)
        attributes |= {
            name: text.format(**known) for name, text in ATTRIBUTES.get(type_, {}).items()
        }
        key = _key(type_, ref)
        if key in self.resources:
            raise Refused(f"{ref} already exists (HandlerErrorCode: AlreadyExists)")
        self._put(key, ExistingResource(stack, logical_id, properties, attributes, None))
        return ref, attributes

    def _change(self, type_: str, ref: str, properties: Properties) -> Answers:
        key = _key(type_, ref)
        self._put(key, replace(self.resources[key], properties=properties))
        return ref, self.resources[key].attributes

    def _put(self, key: Key, resource: ExistingResource) -> None:
        account, region, type_, _ = key
        if resource.logical_id == self.failing:
            raise Refused("the rehearsal has it fail")
        validator = _validator(region, type_)
        problems = [
            f"{'/'.join(map(str, each.path))}: {each.message}"
            for each in (validator.iter_errors(resource.properties) if validator else ())
        ]
        if problems or (problems := too_large(type_, resource.properties)):
            raise Refused(f"Properties validation failed: {'; '.join(problems)}")
        name = name_of(type_, resource.properties, account=account, region=region)
        others = {each.name for other, each in self.resources.items() if other != key}
        if name is not None and name in others:
            raise Refused(f"{name} already exists (HandlerErrorCode: AlreadyExists)")
        self.resources[key] = replace(resource, name=name)


def _key(type_: str, ref: str) -> Key:
    return get_account_id(), get_region(), type_, ref


def _at(properties: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(properties, dict):
            return properties  # a list, which counts as a whole, or nothing
        properties = properties.get(name)
    return properties


@cache
def _schema(region: str, type_: str) -> dict[str, Any]:
    schema: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, type_).schema
    return schema


@cache
def _validator(region: str, type_: str) -> StandardValidator | None:
    """
    Return a type's validator; None for a custom resource. Raises if the region lacks the type.
    """
    if type_.startswith("Custom::"):
        return None
    return StandardValidator(_schema(region, type_))


@cache
def _attributes(type_: str) -> tuple[str, ...]:
    if type_.startswith("Custom::"):
        return ()
    return tuple(PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_).get_atts)


@cache
def _create_only(type_: str) -> tuple[tuple[str, ...], ...]:
    if type_.startswith("Custom::"):
        return (("ServiceToken",),)
    paths = _schema("us-east-1", type_).get("createOnlyProperties", [])
    return tuple(tuple(path.split("/")[2:]) for path in paths)
