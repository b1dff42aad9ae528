"""`python -m rt_notebook`: the command line where the console script isn't on the path."""

from __future__ import annotations

from rt_notebook.frontends.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
