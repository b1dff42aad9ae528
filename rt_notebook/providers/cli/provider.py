"""The provider behind `cli:VENDOR`: from a call to a run of the vendor's command and back.

Owns the order of things: consents, prompt limits, environment, command, run, completion, and
errors without secrets. Everything that differs between vendors stands with the vendor.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from rt_notebook.domain.seat import Seat
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError, SeatError, one_line
from rt_notebook.providers.base import Call, Completion, Progress
from rt_notebook.providers.cli.environment import (
    account_home,
    beside_proxies,
    data_folder,
    find_command,
    key_of,
    place_beside_path,
    scrubbed,
    secrets_in,
)
from rt_notebook.providers.cli.opencode import OpenCode, key_variable_of
from rt_notebook.providers.cli.process import Bounds, Command, Prepare, run
from rt_notebook.providers.cli.vendor import Ask, one_text
from rt_notebook.providers.cli.vendors import vendor_of
from rt_notebook.providers.cli.workspace import Workspace
from rt_notebook.providers.consents import NO_CONSENTS, Consents
from rt_notebook.providers.redaction import redact

_log = logging.getLogger(__name__)

# A model's name is an argument: it may not begin like an option.
_MODEL: Final = re.compile(r"[A-Za-z0-9][\w.:/@+\[\]-]{0,199}")
SEARCHES: Final = "max_searches"
"""The setting of a call that may search the web, so many times."""
_SETTINGS: Final = ("effort", "temperature", "max_tokens")
# The bounds end a call a little before its deadline, so that the command's last words are told.
_MARGIN_S: Final = 2.0
_MARGIN_PART: Final = 0.1


class CliProvider:
    """A vendor's command in a seat.

    Args:
        vendor: claude, codex, gemini, opencode or antigravity.
        model: the model's name for that command; None: the command's default.
        account: a named account; None: the login the user has.
        base_url: an endpoint of the seat's own; no login is ever sent there.
        api_billing: pay by the vendor's key from the environment in place of the login.
        api_key_env: the variable that holds the key; None: the vendor's usual one.
        stall_s: seconds without progress after which a call is stopped; 0: none.
        command: the program's name or absolute path; None: the vendor's usual one.
        allow_limited_isolation: consent to a command that can't be told to leave its tools alone.
        acknowledge_terms: vendors whose notice about their terms the person has read.
        parent: the environment to build from; None: this process's, at each call.

    Raises:
        SeatError: no such vendor, or a name breaks its rule.
    """

    def __init__(
        self,
        vendor: str,
        *,
        model: str | None = None,
        account: str | None = None,
        base_url: str | None = None,
        api_billing: bool = False,
        api_key_env: str | None = None,
        stall_s: float = 0.0,
        command: str | None = None,
        allow_limited_isolation: bool = False,
        acknowledge_terms: Collection[str] = (),
        parent: Mapping[str, str] | None = None,
    ) -> None:
        self.vendor = vendor_of(vendor)
        if model and not _MODEL.fullmatch(model):
            raise SeatError(f"{one_line(model, 80)!r} can't be the name of a model of cli:{vendor}")
        self.model = model or None
        self.account = account
        self.home = account_home(account, vendor) if account else None
        self.base_url = base_url
        self.api_billing = api_billing
        self.command = command or self.vendor.command
        self._key_variables = [api_key_env] if api_key_env else self._usual_keys()
        self._stall_s = stall_s
        self._consents = allow_limited_isolation, frozenset(acknowledge_terms)
        self._given = parent
        self._found: tuple[str, ...] | None = None

    @classmethod
    def of_seat(
        cls,
        seat: Seat,
        *,
        consents: Consents = NO_CONSENTS,
        parent: Mapping[str, str] | None = None,
    ) -> CliProvider:
        """Return the provider of a seat whose model is `cli:VENDOR` or `cli:VENDOR/MODEL`.

        Args:
            seat: the seat; its account, base_url and api_key_env count.
            consents: what the person agreed to.
            parent: as above.

        Raises:
            SeatError: something of it breaks its rule.
        """
        vendor, _, model = seat.model.partition(":")[2].partition("/")
        try:
            return cls(
                vendor,
                model=model or None,
                account=seat.account,
                base_url=seat.base_url,
                api_billing=consents.api_billing,
                api_key_env=seat.api_key_env,
                stall_s=seat.stall_s,
                allow_limited_isolation=consents.allow_limited_isolation,
                acknowledge_terms=consents.acknowledge_terms,
                parent=parent,
            )
        except SeatError as exc:
            raise SeatError(f"seat {seat.name!r}: {exc}", seat=seat.name) from None

    def __repr__(self) -> str:
        """Name vendor, model and account."""
        account = f", account={self.account!r}" if self.account else ""
        return f"CliProvider({self.vendor.name!r}, model={self.model!r}{account})"

    @property
    def keyed(self) -> bool:
        """Whether a call uses no login: it's paid by key, or goes to an endpoint of its own."""
        return self.api_billing or self.base_url is not None

    @property
    def auth(self) -> str:
        """How a call is paid for: `key`, `login` or `none`."""
        if self.api_billing:
            return "key"
        return "none" if self.base_url is not None else "login"

    def warnings(self, settings: Mapping[str, Any] | None = None) -> list[str]:
        """Return what a person should know: what leaks in, and what the command can't be told.

        Args:
            settings: the seat's effort, temperature and max_tokens.
        """
        name = f"cli:{self.vendor.name}"
        leaks = [f"{name}: {leak}" for leak in self.vendor.leaks]
        ignored = [
            f"{name}: {setting} is ignored, the command can't be told"
            for setting in _SETTINGS
            if (settings or {}).get(setting) is not None and setting in self.vendor.ignored
        ]
        return leaks + ignored

    def check(self) -> None:
        """Check, before any call, that everything a call needs is there.

        Raises:
            SeatError: what is missing, and what to do about it.
        """
        self._check_consents()
        if self.home is not None:
            self._check_account(self.home)
        if self.keyed:
            self._check_key()
        if self.program() is None:
            raise SeatError(self._not_found_text())

    def program(self) -> tuple[str, ...] | None:
        """Return what is run: looked up once; None: not found."""
        if self._found is None:
            self._found = find_command(self.command, self.parent)
        return self._found

    @property
    def parent(self) -> Mapping[str, str]:
        """The environment that a call's own is built from."""
        return os.environ if self._given is None else self._given

    def login_line(self) -> str:
        """Return the line a person types to log in."""
        line = self.vendor.login(self.home)
        if self.home is None:
            return line
        places = self.vendor.place_of(self.home)
        sets = " ".join(f"{name}={shlex.quote(value)}" for name, value in places.items())
        return f"mkdir -p {shlex.quote(str(self.home))} && {sets} {line}"

    def own_environment(self, place: Workspace) -> dict[str, str]:
        """Return the scrubbed environment, with the place of the account's state."""
        found = scrubbed(self.parent, place.temporary, logins=not self.keyed)
        if self.keyed:
            if self.base_url:
                found |= beside_proxies(self.base_url, self.parent)
        elif self.home is not None:
            found |= self.vendor.place_of(self.home)
        else:
            names = self.vendor.state_variables
            found |= {name: self.parent[name] for name in names if self.parent.get(name)}
        return found

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call by running the command once.

        Raises:
            CallError: with its kind, when there is no answer.
        """
        secrets, parser = secrets_in(self.parent), self.vendor.parser()
        process: Mapping[str, float] | None = None
        call.came = lambda: redact(parser.text, secrets)
        if (most := call.settings.get(SEARCHES)) is not None:
            parser.allow(self.vendor.search_tools, most)
        try:
            prepare = self._prepared(call, secrets)
            ended = await run(prepare, parser, self._bounds(call), progress)
            process = ended.facts
            completion = parser.completion(ended)
        except CallError as exc:
            error = self._as_ours(exc, call, secrets, parser.usage)
            error.process = process
            raise error from None
        completion.process = process
        return completion

    def _prepared(self, call: Call, secrets: list[str]) -> Prepare:
        """Return what makes the command, having refused what can't work."""
        program = self._checked_program(call)
        system, prompt = one_text(call.messages)
        size, limit = len(prompt.encode("utf-8", "replace")), self.vendor.prompt_limit
        if limit is not None and size > limit:
            raise CallError(
                f"the prompt has {size:,} bytes; {self.command} takes {limit:,}",
                kind="context_length",
            )
        key = key_of(self._key_variables, self.parent) if self.api_billing else None
        secrets.extend([key] if key else [])

        def prepare(place: Workspace) -> Command:
            plan = self.vendor.plan(self._ask(call, system, prompt, key), place)
            for warning in plan.warnings:
                _log.warning("cli:%s: %s", self.vendor.name, warning)
            environment = {**self.own_environment(place), **plan.environment}
            stdin = plan.prompt.encode("utf-8", "replace")
            return Command((*program, *plan.arguments), environment, stdin)

        return prepare

    def _checked_program(self, call: Call) -> tuple[str, ...]:
        try:
            self._check_consents()
        except SeatError as exc:
            raise CallError(str(exc), kind="tool_policy") from None
        if call.tools:
            raise CallError("a command can't be given functions as tools", kind="tool_policy")
        program = self.program()
        if program is None:
            raise CallError(self._not_found_text(), kind="not_found")
        return program

    def _ask(self, call: Call, system: str, prompt: str, key: str | None) -> Ask:
        settings = call.settings
        return Ask(
            system=system,
            prompt=prompt,
            model=self.model,
            effort=settings.get("effort"),
            temperature=settings.get("temperature"),
            max_tokens=settings.get("max_tokens"),
            deadline_s=call.deadline_s,
            keyed=self.keyed,
            key=key,
            base_url=self.base_url.rstrip("/") if self.base_url else None,
            home=self.home,
            parent=self.parent,
            settings_folder=data_folder() / "cli",
            searches=SEARCHES in settings,
        )

    def _bounds(self, call: Call) -> Bounds:
        def before(seconds: float) -> float:
            return seconds - min(_MARGIN_S, seconds * _MARGIN_PART)

        return Bounds(timeout_s=before(call.deadline_s), stall_s=before(self._stall_s))

    def _as_ours(
        self, error: CallError, call: Call, secrets: Collection[str], usage: Usage | None
    ) -> CallError:
        message = redact(str(error), secrets)
        if error.kind == "auth":
            message = f"{message}; {self._auth_advice()}"
        name = self.vendor.name
        return CallError(
            one_line(f"cli:{name}: {message}", 3_000),
            kind=error.kind,
            seat=call.seat,
            provider=f"cli:{name}",
            model=f"cli:{name}/{self.model}" if self.model else f"cli:{name}",
            partial=redact(error.partial, secrets),
            retry_after_s=error.retry_after_s,
            usage=usage,
        )

    def _auth_advice(self) -> str:
        if self.keyed:
            return f"look at the key in {' or '.join(self._key_variables) or 'the environment'}"
        return f"log in with: {self.login_line()}"

    def _usual_keys(self) -> list[str]:
        if isinstance(self.vendor, OpenCode):
            return [key_variable_of("openai" if self.base_url else self.model)]
        return list(self.vendor.key_variables)

    def _check_consents(self) -> None:
        limited, acknowledged = self._consents
        name = self.vendor.name
        if self.vendor.terms and name not in acknowledged:
            raise SeatError(
                f"cli:{name}: {self.vendor.terms}; if you have made sure that you may, say "
                f"acknowledge_terms=[{name!r}]"
            )
        if self.vendor.limited and not limited:
            raise SeatError(
                f"cli:{name} can't be told to leave its tools and your settings alone; if that's "
                "all right here, say allow_limited_isolation=True"
            )

    def _check_account(self, home: Path) -> None:
        if not self.vendor.place_of(home):
            raise SeatError(f"cli:{self.vendor.name} has no named accounts; leave out account=")
        if not home.is_dir():
            raise SeatError(
                f"account {self.account!r} of cli:{self.vendor.name} has no login yet; make it "
                f"with: {self.login_line()}"
            )

    def _check_key(self) -> None:
        name = self.vendor.name
        if not self._key_variables:
            raise SeatError(f"cli:{name} takes neither a key nor a base_url; it needs its login")
        if self.api_billing and not key_of(self._key_variables, self.parent):
            raise SeatError(
                f"cli:{name} with api_billing=True needs a key in {self._key_variables[0]}; there "
                "is none"
            )

    def _not_found_text(self) -> str:
        if os.path.isabs(self.command):
            return f"there is no program {self.command}"
        places = [place for place in self.parent.get("PATH", "").split(os.pathsep) if place]
        shown = ", ".join(places[:12]) + (", …" if len(places) > 12 else "")
        text = f"the command {self.command!r} isn't on PATH ({shown or 'which is empty'}); "
        beside = place_beside_path(self.command, self.parent)
        if beside is None:
            return f"{text}install it: {self.vendor.package}"
        return (
            f"{text}it is in {beside}: start Jupyter from a terminal, or add that folder, with "
            f"os.environ['PATH'] += {os.pathsep + beside!r}"
        )


def check_seat(
    seat: Seat, *, consents: Consents = NO_CONSENTS, parent: Mapping[str, str] | None = None
) -> CliProvider:
    """Return the provider of a seat, having checked that everything a call needs is there.

    Args:
        seat: the seat.
        consents: what the person agreed to.
        parent: the environment; None: this process's.

    Raises:
        SeatError: what is missing, and what to do about it.
    """
    provider = CliProvider.of_seat(seat, consents=consents, parent=parent)
    try:
        if seat.tools:
            raise SeatError(f"{seat.vendor} can't be given functions as tools; leave out tools=")
        provider.check()
    except SeatError as exc:
        raise SeatError(f"seat {seat.name!r}: {exc}", seat=seat.name, model=seat.model) from None
    return provider
