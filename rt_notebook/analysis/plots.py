"""Pictures of a debate: `result.plot.stances()`, agreement, tally, usage and timeline.

Owns how a picture is handed over: interactive where Vega-Lite is known, with a PNG beside it for
places that can't, and nothing loaded over the network. What is drawn stands in the `plots_*`
modules. Needs the extra `plots`.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rt_notebook.analysis.extras import missing_extra
from rt_notebook.analysis.plots_page import picture_page
from rt_notebook.domain.state import State
from rt_notebook.errors import OptionError

if TYPE_CHECKING:
    import altair as alt

MIME: Final = "application/vnd.vegalite.v5+json"
"""What JupyterLab 4, Notebook 7 and VS Code draw; they know no later version."""
_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v5.20.1.json"
_VEGA_LITE: Final = "5.20"
PNG: Final = "image/png"
SCALE: Final = 2
"""Pixels of the PNG per pixel of the page, for sharp screens."""
_KINDS: Final = (".png", ".svg", ".html", ".json")


class Picture:
    """One picture: shows itself in a notebook, and is saved by `save`.

    Args:
        chart: the Altair chart.
        description: what it shows, for those who can't see it.
    """

    def __init__(self, chart: alt.TopLevelMixin, description: str) -> None:
        self.chart = chart
        """The Altair chart, to be changed further."""
        self.description = description
        """What it shows, in a sentence."""

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite, with its data inside."""
        import altair as alt

        # Whatever theme the notebook has switched on stays out of it. Before Altair 5.5 the themes
        # were in `alt.themes`, which warns since.
        themes: Any = alt.theme if hasattr(alt.theme, "enable") else alt.themes
        with themes.enable("none"):
            spec: dict[str, Any] = self.chart.to_dict()
        return {**spec, "$schema": _SCHEMA, "description": self.description}

    def to_png(self, scale: float = SCALE) -> bytes:
        """Return the picture as a PNG with a see-through background.

        Raises:
            MissingExtraError: vl-convert-python isn't installed.
        """
        return bytes(_converter().vegalite_to_png(json.dumps(self.spec), _VEGA_LITE, scale=scale))

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file: `.png`, `.svg`, `.html` (needs no network) or `.json`.

        Raises:
            OptionError: the file has another ending.
            MissingExtraError: vl-convert-python isn't installed.
        """
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in _KINDS:
            raise OptionError(f"save: {target.name!r} must end in {', '.join(_KINDS)}")
        text = json.dumps(self.spec, ensure_ascii=False, indent=1)
        if kind == ".png":
            target.write_bytes(self.to_png())
        elif kind == ".svg":
            target.write_text(_converter().vegalite_to_svg(text, _VEGA_LITE), encoding="utf-8")
        elif kind == ".html":
            library = _converter().javascript_bundle(vl_version=_VEGA_LITE)
            page = picture_page(self.spec, self.description, library)
            target.write_text(page, encoding="utf-8")
        else:
            target.write_text(text + "\n", encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return f"<Picture: {self.description}>"

    def _repr_mimebundle_(
        self,
        include: Container[str] | None = None,
        exclude: Container[str] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the picture as Vega-Lite, PNG and text, whichever is asked for."""
        makers: dict[str, Callable[[], Any]] = {
            MIME: lambda: self.spec,
            PNG: lambda: base64.b64encode(self.to_png()).decode("ascii"),
            "text/plain": lambda: repr(self),
        }
        data = {
            kind: make()
            for kind, make in makers.items()
            if (not include or kind in include) and (not exclude or kind not in exclude)
        }
        shown = {PNG: {**_page_size(data[PNG]), "alt": self.description}} if PNG in data else {}
        return data, shown


class Plots:
    """A debate's pictures, each made anew; `None` of them changes the result.

    Raises:
        MissingExtraError: from each picture, where altair or vl-convert-python isn't installed.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    def __repr__(self) -> str:
        return "<Plots: stances(), agreement(), tally(), usage(), timeline()>"

    def stances(self) -> Picture:
        """Return the flow of stances: a band per counted seat from round to round."""
        _check()
        from rt_notebook.analysis.plots_flow import stance_flow

        return Picture(*stance_flow(self._state))

    def agreement(self) -> Picture:
        """Return a heat map: in which share of the rounds two seats stood together."""
        _check()
        from rt_notebook.analysis.plots_tables import agreement_map

        return Picture(*agreement_map(self._state))

    def tally(self) -> Picture:
        """Return the tally after the opening and at the end, a block per seat."""
        _check()
        from rt_notebook.analysis.plots_tables import tally_blocks

        return Picture(*tally_blocks(self._state))

    def usage(self) -> Picture:
        """Return tokens and latency (seconds) by seat."""
        _check()
        from rt_notebook.analysis.plots_usage import usage_bars

        return Picture(*usage_bars(self._state))

    def timeline(self) -> Picture:
        """Return the calls over time: who waited for whom."""
        _check()
        from rt_notebook.analysis.plots_timeline import call_timeline

        return Picture(*call_timeline(self._state))


def _check() -> None:
    try:
        import altair  # noqa: F401  (only whether it is there)
    except ImportError:
        raise missing_extra("a picture", "altair", "plots") from None
    _converter()


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise missing_extra("a picture", "vl-convert-python", "plots") from None
    return vl_convert


def _page_size(png: str) -> dict[str, int]:
    """Return width and height on the page, from the PNG's own header."""
    width, height = struct.unpack(">II", base64.b64decode(png[:64])[16:24])
    return {"width": width // SCALE, "height": height // SCALE}
