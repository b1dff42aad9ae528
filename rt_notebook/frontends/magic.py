"""The magics: `%%roundtable` makes a cell into a debate, `%roundtable VERB` works on debates by id.

Owns how a shell is equipped and what a cell's text becomes. Loads little: the rest comes with the
first debate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from rt_notebook.errors import OptionError, UsageError
from rt_notebook.frontends import cell_runner, completion
from rt_notebook.frontends.help_text import cell_help
from rt_notebook.frontends.place import RESULT_VARIABLE
from rt_notebook.frontends.verbs import Command, new_limits, number, read_verb, verbs_help

if TYPE_CHECKING:
    from rt_notebook import session
    from rt_notebook.frontends.launch import DebateCell
    from rt_notebook.running import DebateRun


def load(shell: Any) -> None:
    """Add the magics, the input transformer and the completions to a shell; again is harmless."""
    notes = cell_runner.install(shell, lambda line, body: prepare(shell, line, body))
    shell.register_magics(RoundtableMagics(shell))
    shell.register_magic_function(_cell_magic, "cell", "roundtable")
    completion.install(shell)
    for note in notes:
        print(note)


def unload(shell: Any) -> None:
    """Take away what `load` added."""
    cell_runner.uninstall(shell)
    completion.uninstall(shell)
    for kind in ("cell", "line"):
        shell.magics_manager.magics[kind].pop("roundtable", None)


@no_var_expand
def _cell_magic(line: str, cell: str) -> None:
    cell_runner.run_cell_sync(line, cell)


_cell_magic.__doc__ = cell_help()


@magics_class
class RoundtableMagics(Magics):
    """`%roundtable VERB`."""

    @line_magic("roundtable")  # type: ignore[arg-type]  # IPython types it for a bare decorator
    @no_var_expand
    def roundtable(self, line: str) -> Any:
        """Work on debates by id: `%roundtable help` lists the verbs."""
        command = read_verb(line)
        if command is None:
            return _overview()
        return _DO[command.verb.name](self.shell, command)


def prepare(shell: Any, line: str, body: str) -> DebateCell | None:
    """Return the debate of a cell; None where there is nothing to run (help, an estimate).

    Raises:
        UsageError: the line or the body doesn't fit; nothing was called.
    """
    from rt_notebook.contract.line import parse_line
    from rt_notebook.frontends.cell_debate import debate_of_cell

    options = parse_line(line)
    if options.help:
        print(cell_help())
        return None
    found = debate_of_cell(shell, options, body)
    for note in found.notes:
        print(note)
    if options.check:
        print(found.estimate)
        return None
    return found.cell()


def _overview() -> Any:
    from rt_notebook import session
    from rt_notebook.frontends.api import debates

    for line in session.running_lines():
        print(line)
    frame = debates(limit=10)
    if frame.empty:
        print("No debate yet. Start one with %%roundtable; %%roundtable --help says how.")
        return None
    return frame


def _status(shell: Any, command: Command) -> Any:
    from rt_notebook import session

    return session.state(command.id, command.store)


def _show(shell: Any, command: Command) -> Any:
    from rt_notebook import session

    return session.load(command.id, command.store)


def _list(shell: Any, command: Command) -> Any:
    from rt_notebook.frontends.api import debates

    limit = number(command, "limit", default=50)
    return debates(command.options.get("status"), limit, store=command.store)


def _wait(shell: Any, command: Command) -> Any:
    from rt_notebook import session
    from rt_notebook.frontends.api import WAIT_S

    return session.wait(command.id, number(command, "seconds", float, WAIT_S), command.store)


def _answer(shell: Any, command: Command) -> Any:
    from rt_notebook import session

    seat, text = command.options.get("seat"), command.options.get("text")
    round = number(command, "round")
    run = session.control_of(command.id, command.store)
    if round is None and (seat is not None or run.state().kind != "discussion"):
        raise OptionError(
            "%roundtable answer needs --round N: the round the answer is for", option="round"
        )
    if (seat is None) != (text is None):
        raise OptionError(
            "%roundtable answer: --seat and --text belong together: a human seat's reply"
        )
    if seat is not None and text is not None and round is not None:
        return run.take_turn(round=round, seat=seat, text=text)
    return run.answer(command.answers, message=command.options.get("message"), round=round)


def _hold(shell: Any, command: Command) -> Any:
    from rt_notebook import session

    return session.control_of(command.id, command.store).hold(round=number(command, "round"))


def _finish(shell: Any, command: Command) -> Any:
    from rt_notebook import session

    return session.control_of(command.id, command.store).finish()


def _stop(shell: Any, command: Command) -> Any:
    from rt_notebook import session

    return session.control_of(command.id, command.store).stop()


def _delete(shell: Any, command: Command) -> None:
    from rt_notebook import session

    session.delete(command.id, command.store)


def _resume(shell: Any, command: Command) -> None:
    from rt_notebook import session
    from rt_notebook.frontends.cell_debate import functions_of

    limits = new_limits(command)
    models = functions_of(shell, command.id, command.store)
    _run(shell, command, partial(session.resume_run, limits=limits, models=models))


def _verdict(shell: Any, command: Command) -> None:
    from rt_notebook import session
    from rt_notebook.frontends.cell_debate import functions_of

    models = functions_of(shell, command.id, command.store)
    _run(shell, command, partial(session.verdict_run, models=models))


def _extend(shell: Any, command: Command) -> None:
    from rt_notebook.extending import Extending, extend_run
    from rt_notebook.frontends.cell_debate import functions_of

    given = command.options
    seats = given.get("seats")
    more = Extending(
        command.prompt,
        number(command, "rounds", default=1),
        given.get("mode"),
        given.get("observer-prompt"),
        tuple(name.strip() for name in seats.split(",")) if seats else None,
    )
    models = functions_of(shell, command.id, command.store)
    _run(
        shell,
        command,
        lambda debate, opening: extend_run(debate, more, opening, models=models),
    )


def _run(shell: Any, command: Command, make: Callable[[str, session.Opening], DebateRun]) -> None:
    """Run a debate in this cell, blocking, with its view, as a cell of its own would."""
    from rt_notebook.frontends.cell_debate import opening_here
    from rt_notebook.frontends.place import find_place
    from rt_notebook.frontends.views import cell_for
    from rt_notebook.frontends.ways import run_blocking

    place = find_place()

    def assign(result: Any) -> None:
        shell.user_ns[RESULT_VARIABLE] = result

    run = make(command.id, opening_here(place, command.store))
    cell = cell_for(
        run, place, display=None, assign=assign, variable=RESULT_VARIABLE, show_result=True
    )
    try:
        run_blocking(cell, place)
    except KeyboardInterrupt:
        raise cell_runner.CellInterrupted(cell.interruption()) from None


def _export(shell: Any, command: Command) -> Any:
    from rt_notebook.frontends.api import export

    return export(command.id, command.folder, store=command.store)


def _form(shell: Any, command: Command) -> None:
    from rt_notebook.frontends.views import shown_views

    view = (
        shown_views().get(command.id)
        if command.id != "last"
        else next(reversed(shown_views().values()), None)
    )
    if view is None:
        raise UsageError("%roundtable form: no debate with a form runs in this notebook")
    view.show(fresh=True)


def _seats(shell: Any, command: Command) -> Any:
    from rt_notebook.frontends.api import seats

    return seats()


def _doctor(shell: Any, command: Command) -> Any:
    from rt_notebook.frontends.doctor import doctor

    return doctor(live="live" in command.options)


def _config(shell: Any, command: Command) -> None:
    from rt_notebook.config import load_config

    config = load_config()
    lines = [f"file: {path}" for path in config.files] or ["no roundtable.toml and no user file"]
    lines += [f"{name} = {value!r}" for name, value in config.review_defaults().items()]
    lines += [f"limits.{name} = {value!r}" for name, value in config.limits.items()]
    print("\n".join(lines))


def _help(shell: Any, command: Command) -> None:
    print(verbs_help())


_DO = {
    "status": _status,
    "show": _show,
    "list": _list,
    "wait": _wait,
    "answer": _answer,
    "hold": _hold,
    "finish": _finish,
    "stop": _stop,
    "resume": _resume,
    "verdict": _verdict,
    "extend": _extend,
    "export": _export,
    "form": _form,
    "delete": _delete,
    "seats": _seats,
    "doctor": _doctor,
    "config": _config,
    "help": _help,
}
