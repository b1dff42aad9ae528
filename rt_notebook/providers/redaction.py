"""Takes keys out of texts that came from vendors, commands or exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "[hidden]"
"""What stands in a key's place."""

# A key shorter than this can't be told from a word, and hiding it would spoil the text.
_SHORTEST: Final = 6

_KEYS: Final = re.compile(
    r"""(?x)
    \b(?:
        sk-[\w*.\-]{6,}                          # OpenAI, Anthropic, OpenRouter, DeepSeek, ...
      | (?:xai|gsk|hf|pplx|nvapi|csk|tgp|fw|r8|key|glpat|ghu|gho|ghp|ghs|ghr)[-_][\w\-]{16,}
      | github_pat_\w{20,}
      | AIza[\w\-]{20,}                          # Google
      | ya29\.[\w\-.]{10,}                       # Google's access tokens
      | (?:AKIA|ASIA)[0-9A-Z]{16}\b              # AWS
      | eyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*       # JSON web tokens
    )
    """
)

# Authorization: Bearer abc1, x-api-key: abc1, ?key=abc1, api_key='abc1', "token": "abc1",
# DB_PASSWORD=abc1, as a program prints its environment
_NAMED: Final = re.compile(
    r"""(?xi)
    ( \bbearer\s+ | \bauthorization["']?\s*[:=]\s*["']?(?:basic\s+)?
    | \b(?:[\w-]*api[_-]?key|x-goog-api-key|(?:access|auth|refresh)[_-]?token
          |client[_-]?secret|(?:\w{1,60}_)?(?:secret|password|passwd|token|key))
      ["']? \s* [:=] \s* ["']?
    )
    (?!bearer\b|basic\b) ( [^\s"',;&<>(){}\[\]]{8,} )
    """
)

_USER_INFO: Final = re.compile(r"(?i)(\b[a-z][a-z0-9+.\-]{0,20}://)[^\s/@]{1,200}@")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with everything that looks like a key replaced.

    Args:
        text: what a vendor, a command or an exception said.
        secrets: keys that are known, hidden wherever they stand.
    """
    for secret in sorted({*secrets}, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    text = _USER_INFO.sub(rf"\g<1>{HIDDEN}@", text)
    text = _KEYS.sub(HIDDEN, text)
    return _NAMED.sub(_hide_value, text)


def _hide_value(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    # "Unexpected token: identifier", "token: 12345678": words and counts, where a key mixes both.
    is_word = value.isdigit() or (value.isalpha() and value.islower())
    if value == HIDDEN or (is_word and not re.search("(?i)secret|passw", name)):
        return found[0]
    return f"{name}{HIDDEN}"
