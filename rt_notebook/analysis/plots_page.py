"""A picture as a web page in one file: drawn without a network, whatever its texts hold."""

from __future__ import annotations

import html
import json
from typing import Any, Final

from rt_notebook.characters import escaped_json

# Vega compiles its expressions, so code may be made in this page; nothing may be loaded.
_POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<script>{library}</script>
</head>
<body>
<div id="picture"></div>
<script>
vegaEmbed("#picture", {spec}, {{renderer: "svg", mode: "vega-lite"}}).catch(console.error);
</script>
</body>
</html>
"""


def picture_page(spec: dict[str, Any], title: str, library: str) -> str:
    """Return a picture as a whole page.

    Args:
        spec: Vega-Lite, with its data inside.
        title: what it shows.
        library: the script that defines `vegaEmbed`.
    """
    # Within a script only `<` can end it or begin a comment; JSON has another way to write it.
    text = escaped_json(json.dumps(spec, ensure_ascii=False)).replace("<", r"\u003c")
    return _PAGE.format(policy=_POLICY, title=html.escape(title), library=library, spec=text)
