"""What a person has agreed to for one debate; a project's file can't say it."""

from __future__ import annotations

from dataclasses import dataclass

from rt_notebook.domain.spec import DebateSpec


@dataclass(frozen=True)
class Consents:
    """What the commands of a debate may do."""

    api_billing: bool = False
    """Pay by a key of the environment in place of the login."""
    allow_limited_isolation: bool = False
    """Run commands that can't be told to leave tools and settings alone."""
    acknowledge_terms: tuple[str, ...] = ()
    """Vendors whose notice about their terms was read."""


NO_CONSENTS = Consents()
"""What nobody had to be asked for."""


def consents_of(spec: DebateSpec) -> Consents:
    """Return what was agreed to for a debate."""
    return Consents(spec.api_billing, spec.allow_limited_isolation, spec.acknowledge_terms)
