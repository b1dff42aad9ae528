"""How much is tried: a small fixed set in every run of the tests, a long random one on demand.

`RT_NOTEBOOK_FUZZ=20` tries twenty times as much, each time something else; `make fuzz` sets it.
"""

from __future__ import annotations

import os
from typing import Any, Final

from hypothesis import HealthCheck, Phase, settings

FACTOR: Final = int(os.environ.get("RT_NOTEBOOK_FUZZ") or 0)
"""How many times the fixed set's size is tried; 0: the fixed set itself."""

PROFILE: Final = "fuzz" if FACTOR else "ci"
"""The hypothesis profile of this run."""

# Examples are generated from grammars and through a whole engine: slow ones are meant to be.
_SHARED: Final[dict[str, Any]] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    # Explaining a failure traces every line of every example, which costs more than all the rest.
    "phases": [Phase.explicit, Phase.generate, Phase.target, Phase.shrink],
}
settings.register_profile("ci", derandomize=True, **_SHARED)
settings.register_profile("fuzz", derandomize=False, print_blob=True, **_SHARED)


def tried(examples: int, **more: Any) -> settings:
    """Return the settings of a test that tries so many examples in a usual run."""
    return settings(settings.get_profile(PROFILE), max_examples=examples * max(FACTOR, 1), **more)
