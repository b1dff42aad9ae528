"""Which view shows a debate (the notebook's, the terminal's, none), and the doors to them."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakValueDictionary

from rt_notebook.analysis.result import Result
from rt_notebook.frontends.launch import Assign, DebateCell, View
from rt_notebook.frontends.place import Place
from rt_notebook.running import DebateRun

_shown: WeakValueDictionary[str, View] = WeakValueDictionary()


def shown_views() -> dict[str, View]:
    """Return the notebook's views of the debates that run, by id, oldest first."""
    return dict(_shown)


def cell_for(
    run: DebateRun,
    place: Place,
    *,
    display: bool | None,
    background: bool = False,
    assign: Assign | None = None,
    confirm: str | None = None,
    variable: str | None = None,
    show_result: bool = False,
) -> DebateCell:
    """Return the debate as the cell that will run it.

    Args:
        run: the debate.
        place: where it runs.
        display: whether a view is shown; None: where somebody can see it.
        background: the cell returns at once.
        assign: gets the result.
        confirm: the question to be confirmed first.
        variable: the variable's name.
        show_result: display the result at the end where there was no view (a cell magic does, a
            call doesn't).
    """
    make_view = _maker(run, place, background) if display is not False else None
    shown = _shower(place) if show_result or make_view is not None else None
    if run.replays:
        # It takes milliseconds, and a view would open a form for every recorded gate.
        make_view, shown = None, None if background else shown
    return DebateCell(
        run,
        place,
        make_view=make_view,
        background=background,
        assign=assign,
        confirm=confirm,
        variable=variable,
        shown=shown,
        captured=lambda: _is_captured(place),
    )


def _maker(
    run: DebateRun, place: Place, background: bool
) -> Callable[[Callable[..., object]], View] | None:
    if place.kernel is not None and place.stdin:
        from rt_notebook.frontends.live_view import LiveView

        def make_view(post: Callable[..., object]) -> View:
            view = LiveView(place.shell, post, run, background=background)
            _shown[run.id] = view
            return view

        return make_view
    if place.terminal:
        from rt_notebook.frontends.terminal import TerminalView

        return lambda post: TerminalView(run, background=background)
    return None


def _is_captured(place: Place) -> bool:
    if place.kernel is None:
        return False
    from rt_notebook.frontends.publisher import captured

    return captured(place.shell)


def _shower(place: Place) -> Callable[[Result], None]:
    def show(result: Result) -> None:
        if place.kernel is not None:
            from rt_notebook.frontends.publisher import publish

            publish(result, ip=place.shell)
        else:
            print(result)

    return show
