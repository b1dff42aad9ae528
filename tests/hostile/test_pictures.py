"""Pictures as files: texts in them are text, in SVG and in a page that draws by a script."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rt_notebook.analysis.plots import Plots
from rt_notebook.analysis.plots_page import picture_page
from tests.hostile.checks import Page, assert_harmless_text, each
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import states_of
from tests.hostile.test_live import texts_in

_SVG = "{http://www.w3.org/2000/svg}"
_TAGS = {"svg", "g", "path", "text", "rect", "line", "defs", "clipPath", "tspan", "title", "desc"}
_NASTIEST = "</script><script>window.hacked=1</script>\u202e\x1b[31m<img src=x onerror=hacked>]]>&"


@pytest.mark.parametrize("family", FAMILIES)
def test_page_s_script_ends_where_ours_does(family: str) -> None:
    def check(text: str) -> None:
        spec = {"title": text, "data": {"values": [{text: text}]}, "n": [text]}
        written = picture_page(spec, text, "/* library */")
        page = Page(written)
        assert page.tags == [
            *("html", "head", "meta", "meta", "meta", "title", "script", "body", "div", "script"),
        ]
        # `meta` has no end, so that these two come unexpectedly for the checker.
        assert page.strays == ["declaration DOCTYPE html", "head", "html"]
        held = written.rpartition('vegaEmbed("#picture", ')[2].rpartition(', {renderer: "svg"')[0]
        assert json.loads(held) == json.loads(json.dumps(spec))
        assert "<" not in held

    each(family, check)


def test_picture_of_hostile_labels_is_a_picture(tmp_path: Path) -> None:
    plots = Plots(states_of(_NASTIEST)[0])
    picture = plots.tally()
    assert_harmless_text("\n".join([repr(picture), *texts_in(picture.spec)]))
    for element in ElementTree.parse(picture.save(tmp_path / "tally.svg")).iter():  # noqa: S314  (made here)
        assert element.tag.removeprefix(_SVG) in _TAGS, element.tag
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on"), name
            assert not name.endswith("href"), name
            assert "url(" not in value.lower() or value.startswith("url(#"), value
    page = Page(picture.save(tmp_path / "tally.html").read_text(encoding="utf-8"))
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
