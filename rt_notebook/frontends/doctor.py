"""The doctor: what works here, what doesn't and why, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rt_notebook.config import Config, load_config
from rt_notebook.errors import OptionError, nearest
from rt_notebook.frontends import doctor_checks as checks
from rt_notebook.frontends import doctor_live as live_check
from rt_notebook.frontends.doctor_report import OK, PROBLEM, Finding, Report
from rt_notebook.frontends.place import find_place
from rt_notebook.providers.consents import Consents

_LIVE: Final = "--live"


def doctor(*, live: bool = False, say: Callable[[str], object] = print) -> Report:
    """Return what can be used here, and what to do where something can't.

    Looks at Python and the packages, the front end, the store, the model APIs, the vendors'
    commands (version and login by their own free checks) and the seats that can be named. No model
    is asked unless `live`.

    Args:
        live: also make one tiny call to each seat at a model and to each command that is ready.
        say: told, before the first call of a live check, whom it asks and what that may cost.
    """
    place = find_place()
    findings = [*checks.python_findings(), *checks.place_findings(place)]
    try:
        config = load_config()
    except OptionError as exc:
        findings.append(Finding("Files", "configuration", PROBLEM, str(exc)))
        config = Config()
    findings += [Finding("Files", path.name, OK, str(path)) for path in config.files]
    findings += checks.store_findings(config)
    consents = Consents(api_billing=bool(config.review_defaults().get("api_billing")))
    commands = list(checks.command_findings(consents))
    findings += [*checks.api_findings(), *commands, *checks.plug_in_findings()]
    findings += checks.seat_findings(config, place.variables)
    report = Report(tuple(findings))
    if not live:
        return report
    ready = [found.name for found in commands if found.state == OK]
    asked = live_check.plan(config, place.variables, list(dict.fromkeys(ready)))
    say(str(asked))
    return report.with_more(live_check.try_all(asked, consents))


def main(words: Sequence[str]) -> int:
    """Print the report for the command line; 1 where something has to be mended.

    Args:
        words: what stands behind `doctor` on the line.

    Raises:
        OptionError: something else than `--live` does.
    """
    report = doctor(live=wants_live(words))
    print(report)
    return 1 if report.problems else 0


def wants_live(words: Sequence[str]) -> bool:
    """Return whether a line asks for a live check.

    Raises:
        OptionError: it says something else.
    """
    wrong = next((word for word in words if word != _LIVE), None)
    if wrong is not None:
        raise OptionError(
            f"doctor takes nothing but {_LIVE}; got {wrong[:60]!r}{nearest(wrong, [_LIVE])}",
            option=wrong,
        )
    return bool(words)
