"""The measures of debates, as plain rows: applies `measures` to the positions in the fold.

Counted seats only. Owns how missing seats are treated; knows no pandas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
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
    options = dict.fromkeys(state.spec.brief.option_ids)
    rounds = keys_by_round(state)
    for number, held in enumerate(rounds):
        before = rounds[number - 1] if number else {}
        counts = Counter(held.values())
        standing = tuple(counts.values())
        taken = tuple([counts[stance] for stance in {**options, **counts}])
        yield (
            number,
            len(seats),
            len(held),
            *_of_counts(standing, taken),
            _known(measures.volatility(before, held)),
            # Nobody moved in most rounds.
            _known(measures.conformity(before, held)) if before != held else None,
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


@lru_cache(1_024)
def _of_counts(standing: tuple[int, ...], taken: tuple[int, ...]) -> tuple[float | None, ...]:
    """Return agreement, kappa, alpha and entropy, for which only the counts matter.

    Few seats and options make few patterns of counts, however many the debates.

    Args:
        standing: how many seats stand for each stance that somebody holds, as they came.
        taken: the same for all options, then for the stances of their own.
    """
    seats = sum(standing)
    stands = [place for place, count in enumerate(taken) for _ in range(count)]
    takes = [[own == place for place in range(len(taken))] for own in stands]
    return (
        _known(measures.agreement(stands)),
        _known(measures.fleiss_kappa((count, seats - count) for count in taken)),
        _known(measures.krippendorff_alpha(takes)),
        _known(measures.entropy(standing)),
    )


def _labelled(state: State) -> list[dict[str, str]]:
    """Return the positions by round under the options' labels; own stances keep their keys."""
    brief = state.spec.brief
    labels = dict(zip(brief.option_ids, brief.options, strict=True))
    return [
        {name: labels.get(key, key) for name, key in held.items()} for held in keys_by_round(state)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
