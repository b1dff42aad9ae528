"""How Sphinx builds the documentation: `make docs`; every warning is an error."""

from __future__ import annotations

from importlib.metadata import version as version_of

project = "rt_notebook"
author = "rt_notebook contributors"
release = version_of("rt-notebook")

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"rt_notebook {release}"
# Nothing is asked of other servers: neither fonts nor scripts, nor a search.
html_show_sourcelink = False
html_copy_source = False
# Dashes and quotes are part of what is typed.
smartquotes = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
