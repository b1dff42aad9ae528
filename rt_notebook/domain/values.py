"""What the other value modules share: the frozen base."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rt_notebook.characters import whole_in
from rt_notebook.errors import OptionError, RoundtableError, nearest, one_line


class Value(BaseModel):
    """A frozen value whose construction errors are one clear line of our own kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    error: ClassVar[type[RoundtableError]] = OptionError
    noun: ClassVar[str] = "value"

    def __init__(self, **data: Any) -> None:
        try:
            # As the log will give it back, or a resumed debate would have another brief.
            super().__init__(**{name: whole_in(given) for name, given in data.items()})
        except ValidationError as exc:
            raise self._explain(exc) from None

    @classmethod
    def _explain(cls, exc: ValidationError) -> RoundtableError:
        first = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or cls.noun
        if first["type"] == "extra_forbidden":
            hint = nearest(where, cls.model_fields)
            message = f"{cls.noun} has no field {where!r}{hint}"
            return cls.error(message, field=where, unknown=True)
        shown = one_line(repr(first.get("input")), 80)
        return cls.error(f"{cls.noun}: {where}={shown}: {first['msg']}", field=where)
