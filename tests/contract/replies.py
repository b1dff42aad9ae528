"""Texts that several contract tests read, and short ways to read them."""

from __future__ import annotations

from rt_notebook.contract import Reply, read_reply

OPTIONS = ["Ship", "Wait"]
REST = "AGREE_WITH: []\nDISAGREE:\n- cost\nNEW: none\nASSUMPTIONS: none"
VALID = f"STANCE: opt-1\n{REST}"


def read(text: str, **arguments: object) -> Reply:
    """Reads a reply of round 1 to the options Ship and Wait."""
    return read_reply(text, **{"options": OPTIONS, "round": 1, **arguments})  # type: ignore[arg-type]  # names vary by test


def read_stance(line: str) -> Reply:
    """Reads a valid reply whose first line is `line`."""
    return read(f"{line}\n{REST}")


def read_section(section: str, lines: str) -> Reply:
    """Reads a reply in which `section` holds `lines`."""
    others = [name for name in ("DISAGREE", "NEW", "ASSUMPTIONS") if name != section]
    text = "\n".join(["STANCE: opt-1", "AGREE_WITH: []", *(f"{name}:" for name in others)])
    return read(f"{text}\n{section}:{lines}", trim=False)
