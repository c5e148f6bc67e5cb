"""What was recorded against what is granted, function by function."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tests.campaigns.permissions.needs import Need
from tests.campaigns.permissions.roles import Grant, Role


@dataclass(frozen=True, kw_only=True)
class Use:
    """How often a grant was used, and for which modules of the product."""

    calls: int
    wanted_by: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    roles: Mapping[str, Role]
    _calls: Counter[Need] = field(default_factory=Counter)

    def add(self, needs: Iterable[Need]) -> None:
        self._calls.update(needs)

    def calls(self, function: str) -> int:
        return sum(count for need, count in self._calls.items() if need.function == function)

    @property
    def denied(self) -> list[Need]:
        """What a function did that its role doesn't allow, or that has no role at all."""
        return sorted((each for each in self._calls if not self._is_allowed(each)), key=str)

    @property
    def unused(self) -> list[Grant]:
        """What a role allows that nothing did."""
        return sorted(each for each, use in self.uses.items() if not use.calls)

    @cached_property
    def uses(self) -> dict[Grant, Use]:
        """Of every grant but those that Lambda itself uses. To be asked when all is added."""
        grants = sorted(each for role in self.roles.values() for each in role.used_by_code)
        return {each: self._use_of(each) for each in grants}

    def _is_allowed(self, need: Need) -> bool:
        role = self.roles.get(need.function)
        return role is not None and role.allows(need)

    def _use_of(self, grant: Grant) -> Use:
        using = [need for need in self._calls if grant.covers(need)]
        return Use(
            calls=sum(self._calls[each] for each in using),
            wanted_by=tuple(sorted({each.wanted_by for each in using})),
        )
