"""The measures of debates, as plain rows: applies `measures` to the positions in the fold.

Counted seats only. Owns how missing seats are treated; knows no pandas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rt_notebook.analysis import measures
from rt_notebook.analysis.relations import keys_by_round
from rt_notebook.analysis.tables import Columns, Row
from rt_notebook.domain.state import State

MEASURES: Final[Columns] = {
    "round": "int",
    "seats": "int",
    "standing": "int",
    "agreement": "float",
    "fleiss_kappa": "float",
    "krippendorff_alpha": "float",
    "entropy": "float",
    "volatility": "float",
    "conformity": "float",
    "consensus": "flag",
}
"""One row per round of a debate."""

RELIABILITY: Final[Columns] = {
    "round": "int",
    "debates": "int",
    "complete": "int",
    "fleiss_kappa": "float",
    "krippendorff_alpha": "float",
}
"""One row per round over several debates."""

PERSUASION: Final[Columns] = {"seat": "text", "towards": "text", "moves": "float"}
"""One row per ordered pair of two counted seats."""


def measure_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `MEASURES`, one per round.

    Kappa and alpha need several subjects, and a debate has one question. So the subjects are the
    stances: the brief's options, then the stances of their own that somebody holds after the round;
    each seat says of each whether it takes it. With k stances this kappa equals
    (agreement - 1/k) / (1 - 1/k), the chance-corrected agreement on one question with k equally
    likely answers (J. J. Randolph, "Free-Marginal Multirater Kappa", 2005).

    A seat without a position after the round is left out of kappa, which needs equally many ratings
    of each subject, and is missing to alpha; with fewer than two seats both are NA. A seat that
    passed or failed keeps its earlier position, so it isn't missing. Volatility and conformity are
    NA for the opening, and count the seats that had a position before and after.
    """
    seats = [seat.name for seat in state.spec.counted]
    rounds = keys_by_round(state)
    for number, held in enumerate(rounds):
        before = rounds[number - 1] if number else {}
        stances = list(dict.fromkeys([*state.spec.brief.option_ids, *held.values()]))
        counts = Counter(held.values())
        yield (
            number,
            len(seats),
            len(held),
            _known(measures.agreement(held.values())),
            _known(measures.fleiss_kappa((counts[s], len(held) - counts[s]) for s in stances)),
            _known(measures.krippendorff_alpha(_takes(seats, held, stances))),
            _known(measures.entropy(counts.values())),
            _known(measures.volatility(before, held)),
            _known(measures.conformity(before, held)),
            len(seats) > 1 and len(held) == len(seats) and len(counts) == 1,
        )


def persuasion_rows(state: State) -> Iterator[Row]:
    """Yield the rows of `PERSUASION`: how often each seat moved to where each other one stood."""
    moves = measures.persuasion(keys_by_round(state))
    seats = [seat.name for seat in state.spec.counted]
    for seat in seats:
        for other in seats:
            yield seat, other, moves.get((seat, other), 0.0)


def consensus_round(state: State) -> int | None:
    """Return the first round from which on all counted seats stand together; None if never."""
    return measures.time_to_consensus(keys_by_round(state), len(state.spec.counted))


def reliability_rows(states: Iterable[State]) -> Iterator[Row]:
    """Yield the rows of `RELIABILITY`: do seats agree on which debate ends where?

    The subjects are the debates, the raters the seats, by name; the categories the options' labels
    and the stances of their own. A debate that ended earlier keeps its last positions. Kappa takes
    the debates in which as many seats have a position as in the fullest one (`complete` of them);
    alpha takes every debate, with the positions there are.
    """
    debates = [_labelled(state) for state in states]
    raters = list(dict.fromkeys(name for rounds in debates for held in rounds for name in held))
    for number in range(max(map(len, debates), default=0)):
        held = [rounds[min(number, len(rounds) - 1)] for rounds in debates if rounds]
        most = max(map(len, held))
        full = [positions for positions in held if len(positions) == most]
        stances = sorted({key for positions in full for key in positions.values()})
        counted = [Counter(positions.values()) for positions in full]
        yield (
            number,
            len(held),
            len(full),
            _known(measures.fleiss_kappa([count[s] for s in stances] for count in counted)),
            _known(measures.krippendorff_alpha([p.get(rater) for p in held] for rater in raters)),
        )


def _takes(
    seats: Sequence[str], held: Mapping[str, str], stances: Sequence[str]
) -> Iterator[list[bool | None]]:
    for seat in seats:
        own = held.get(seat)
        yield [None if own is None else own == stance for stance in stances]


def _labelled(state: State) -> list[dict[str, str]]:
    """Return the positions by round under the options' labels; own stances keep their keys."""
    brief = state.spec.brief
    labels = dict(zip(brief.option_ids, brief.options, strict=True))
    return [
        {name: labels.get(key, key) for name, key in held.items()} for held in keys_by_round(state)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
