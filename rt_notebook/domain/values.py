"""What the other value modules share: the frozen base and the normal form of labels and names."""

from __future__ import annotations

import unicodedata
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from rt_notebook.errors import OptionError, RoundtableError, nearest, one_line

_NORMALISED: Final = 1_000


def normal_form(text: str) -> str:
    """Return `text` as labels and names are compared.

    NFKC, case folded, white space folded and trimmed. A text too long to be a label goes without
    NFKC: CPython's is quadratic in runs of combining marks.
    """
    if len(text) > _NORMALISED:
        return " ".join(text.casefold().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class Value(BaseModel):
    """A frozen value whose construction errors are one clear line of our own kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    error: ClassVar[type[RoundtableError]] = OptionError
    noun: ClassVar[str] = "value"

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as exc:
            raise self._explain(exc) from None

    @classmethod
    def _explain(cls, exc: ValidationError) -> RoundtableError:
        first = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or cls.noun
        if first["type"] == "extra_forbidden":
            hint = nearest(where, cls.model_fields)
            return cls.error(f"{cls.noun} has no field {where!r}{hint}", field=where)
        shown = one_line(repr(first.get("input")), 80)
        return cls.error(f"{cls.noun}: {where}={shown}: {first['msg']}", field=where)
