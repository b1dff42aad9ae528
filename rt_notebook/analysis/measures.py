"""How far seats agree, how they move, and how sure a verdict is: each measure with its source.

Pure functions on counts, ratings and stances; they know no debate. `debate_measures` applies them
to the fold. A measure that isn't defined for what it is given is NaN, which frames show as NA.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from rt_notebook.errors import UsageError

NAN: Final = math.nan
RESAMPLES: Final = 10_000
"""Bootstrap samples drawn; Efron and Tibshirani (1993) advise at least 1,000 for an interval."""
_MOST_DRAWS: Final = 4_000_000


def fleiss_kappa(counts: Iterable[Sequence[int]]) -> float:
    """Return Fleiss' kappa: agreement of several raters beyond what chance would give.

    With N subjects, n ratings each, and n_ij ratings of subject i in category j:
    P_i = (Σ_j n_ij² - n) / (n(n - 1)), p_j = Σ_i n_ij / (Nn), P = mean of P_i, E = Σ_j p_j²,
    kappa = (P - E) / (1 - E). 1: all agree; 0: as by chance; NaN: fewer than two ratings a
    subject, no subject, or one category only (E = 1, so there is nothing to agree beyond).

    Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76 (1971) 378-382; its example (30 patients, 6 psychiatrists, 5 diagnoses) gives 0.430.

    Args:
        counts: for each subject, how many raters chose each category.

    Raises:
        UsageError: the subjects don't all have the same number of ratings, which this kappa needs;
            leave subjects out, or take `krippendorff_alpha`.
    """
    table = [tuple(row) for row in counts]
    sizes = {sum(row) for row in table}
    if len(sizes) > 1:
        raise UsageError(
            f"fleiss_kappa: every subject needs the same number of ratings, got {min(sizes)} to "
            f"{max(sizes)}; krippendorff_alpha takes missing ones"
        )
    ratings = sizes.pop() if sizes else 0
    if ratings < 2:
        return NAN
    observed = sum(_pair_agreement(row) for row in table) / len(table)
    shares = [sum(column) / (len(table) * ratings) for column in zip(*table, strict=True)]
    expected = sum(share**2 for share in shares)
    return NAN if math.isclose(expected, 1.0) else (observed - expected) / (1 - expected)


def krippendorff_alpha(ratings: Iterable[Sequence[Hashable | None]]) -> float:
    """Return Krippendorff's alpha for nominal data: agreement of raters, with ratings missing.

    A unit with m ≥ 2 values gives each ordered pair of its values the weight 1/(m - 1) in the
    coincidences o_ck; units with fewer are left out. With n_c = Σ_k o_ck and n = Σ_c n_c:
    alpha = 1 - (n - 1) Σ_{c≠k} o_ck / Σ_{c≠k} n_c n_k. 1: all agree; 0: as by chance; NaN: no
    pair of values, or one value only in all units.

    Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", University of
    Pennsylvania (2011); its example C (4 observers, 12 units, some missing) gives 0.743.

    Args:
        ratings: a row for each rater, a value for each unit; None or NaN: the rater gave none.

    Raises:
        UsageError: the rows differ in length.
    """
    rows = [tuple(row) for row in ratings]
    if len({len(row) for row in rows}) > 1:
        raise UsageError("krippendorff_alpha: every rater needs a value, or None, for every unit")
    totals: Counter[Hashable] = Counter()
    disagreeing = 0.0
    for unit in zip(*rows, strict=True):
        values = [value for value in unit if not _is_missing(value)]
        given = len(values)
        if given >= 2:
            totals.update(values)
            disagreeing += (given**2 - _sum_of_squares(values)) / (given - 1)
    everything = sum(totals.values())
    by_chance = everything**2 - sum([n**2 for n in totals.values()])
    return 1 - (everything - 1) * disagreeing / by_chance if by_chance else NAN


def agreement(keys: Iterable[Hashable]) -> float:
    """Return the share of pairs of seats in the same stance; NaN with fewer than two seats.

    Σ_j n_j(n_j - 1) / (n(n - 1)): Fleiss' P_i (1971) for one subject.
    """
    counts = list(Counter(keys).values())
    return _pair_agreement(counts) if sum(counts) > 1 else NAN


def entropy(counts: Iterable[float]) -> float:
    """Return the Shannon entropy of a tally in bits: 0 where all stand together.

    H = -Σ p_j log2 p_j over the stances that somebody holds; k equally held ones give log2 k.
    NaN for an empty tally.

    Source: C. E. Shannon, "A Mathematical Theory of Communication", Bell System Technical Journal
    27 (1948) 379-423; its biased coin with p = 0.7 gives 0.88 bits.
    """
    held = [count for count in counts if count > 0]
    total = sum(held)
    return -sum(n / total * math.log2(n / total) for n in held) + 0.0 if held else NAN


def volatility(before: Mapping[str, Hashable], after: Mapping[str, Hashable]) -> float:
    """Return the share of seats that moved: of those with a position before and after.

    NaN where there is none. This is the gross change, seat by seat; two seats that swap sides count
    as two. The net change of a tally is M. N. Pedersen's, "The Dynamics of European Party Systems",
    European Journal of Political Research 7 (1979) 1-26.

    Args:
        before: stance by seat after one round; seats without one are left out.
        after: the same after the next round.
    """
    both = [seat for seat in before if seat in after]
    return sum(before[seat] != after[seat] for seat in both) / len(both) if both else NAN


def conformity(before: Mapping[str, Hashable], after: Mapping[str, Hashable]) -> float:
    """Return the share of the seats that moved that moved to the majority.

    The majority of a seat is the stance that more of the *other* seats held before than any other
    stance; on a tie it has none, and a move counts as not to it. NaN where nobody moved.

    Source: after S. E. Asch, "Studies of Independence and Conformity", Psychological Monographs 70
    (1956) no. 9, where the share of yielding answers is counted.

    Args:
        before: stance by seat after one round; seats without one are left out.
        after: the same after the next round.
    """
    moved = [seat for seat in before if seat in after and before[seat] != after[seat]]
    held = Counter(before.values())
    yielded = sum([_is_majority(after[seat], before[seat], held) for seat in moved])
    return yielded / len(moved) if moved else NAN


def persuasion(rounds: Sequence[Mapping[str, Hashable]]) -> dict[tuple[str, str], float]:
    """Return how often a seat moved to where another one stood: {(who moved, towards whom): moves}.

    A seat that moves in a round to a stance that m other seats held after the round before counts
    1/m towards each of them; a move to a stance that nobody held counts towards nobody. So a seat's
    entries add up to its moves to somebody.

    Source: the matrix of influences of M. H. DeGroot, "Reaching a Consensus", Journal of the
    American Statistical Association 69 (1974) 118-121, here counted, not weighed.

    Args:
        rounds: stance by seat after each round; seats without one are left out.
    """
    found: dict[tuple[str, str], float] = {}
    for before, after in pairwise(rounds):
        for seat in before:
            if seat in after and before[seat] != after[seat]:
                held = [name for name, key in before.items() if key == after[seat]]
                for name in held:
                    found[seat, name] = found.get((seat, name), 0.0) + 1 / len(held)
    return found


def time_to_consensus(rounds: Sequence[Mapping[str, Hashable]], seats: int) -> int | None:
    """Return the first round from which on all seats stand together to the last; None if never.

    A seat without a position stands with nobody, and one seat alone never agrees.

    Source: the time to absorption of a voter model, P. Clifford and A. Sudbury, "A Model for
    Spatial Conflict", Biometrika 60 (1973) 581-588.

    Args:
        rounds: stance by seat after each round; seats without one are left out.
        seats: how many there are.
    """
    first = None
    for number in range(len(rounds) - 1, -1, -1):
        held = rounds[number]
        if seats < 2 or len(held) < seats or len(set(held.values())) != 1:
            break
        first = number
    return first


class Interval(NamedTuple):
    """A bootstrap interval."""

    low: float
    """Its lower end."""
    high: float
    """Its upper end."""


@dataclass(frozen=True)
class Stability:
    """How often repeated runs come to the same verdict."""

    pick: Hashable | None
    """The most frequent pick; of equally frequent ones the first to come; None without any."""
    share: float
    """The share of the runs with a verdict that have it, 0 to 1; NaN without any."""
    interval: Interval
    """Percentile bootstrap interval of `share`."""
    level: float
    """The interval's level, such as 0.95."""
    runs: int
    """Runs with a verdict."""
    missing: int
    """Runs without one; they don't count."""
    picks: dict[Hashable, int] = field(default_factory=dict)
    """How many runs have each pick, the most frequent first."""


def stability(
    picks: Iterable[Hashable | None],
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Stability:
    """Return how often runs of the same debate come to the same verdict, with an interval.

    Share = runs with the most frequent pick / runs with a pick; `none` (no option recommended) is a
    pick like any other, None (no verdict) isn't one. The interval is the percentile bootstrap: as
    many picks as there are runs are drawn with replacement, `resamples` times, and the share of the
    pick that was the most frequent one at first is taken. The same seed gives the same interval.

    Source: B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7
    (1979) 1-26.

    Args:
        picks: one for each run.
        level: the interval's level, above 0 and below 1.
        resamples: samples drawn; fewer where there are so many runs that it would take long.
        seed: of the random numbers.

    Raises:
        UsageError: `level` or `resamples` is out of range.
    """
    if not 0 < level < 1 or resamples < 1:
        raise UsageError(f"stability: level={level!r} must lie between 0 and 1, resamples above 0")
    given = list(picks)
    counts = Counter(pick for pick in given if pick is not None)
    runs = sum(counts.values())
    missing = len(given) - runs
    if not runs:
        return Stability(None, NAN, Interval(NAN, NAN), level, 0, missing)
    ordered = dict(counts.most_common())
    pick, most = next(iter(ordered.items()))
    interval = _bootstrap(most, runs, level, resamples, seed)
    return Stability(pick, most / runs, interval, level, runs, missing, ordered)


def _bootstrap(hits: int, runs: int, level: float, resamples: int, seed: int) -> Interval:
    # The stream of random() is promised to stay the same over Python's versions; numpy's isn't.
    draw = random.Random(seed).random  # noqa: S311  (a bootstrap, no secret)
    share = hits / runs
    times = max(1, min(resamples, _MOST_DRAWS // runs))
    shares = sorted(sum(draw() < share for _ in range(runs)) / runs for _ in range(times))
    tail = (1 - level) / 2
    return Interval(_quantile(shares, tail), _quantile(shares, 1 - tail))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile by linear interpolation: Hyndman and Fan's type 7, as numpy's default."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _pair_agreement(counts: Sequence[int]) -> float:
    total = sum(counts)
    return sum(n * (n - 1) for n in counts) / (total * (total - 1))


def _is_majority(key: Hashable, own: Hashable, held: Counter[Hashable]) -> bool:
    """Return whether more seats held `key` than any other, without one seat that held `own`."""
    most = held[key]
    return most > 0 and all(
        [count - (other == own) < most for other, count in held.items() if other != key]
    )


def _sum_of_squares(values: list[Hashable]) -> int:
    """Return the sum of the squares of how often each value is there."""
    first = values[0]
    if values.count(first) == len(values):  # as in most units
        return len(values) ** 2
    return sum([n**2 for n in Counter(values).values()])


def _is_missing(value: object) -> bool:
    if isinstance(value, str | int):  # nearly all are
        return False
    # NaN is the one value that differs from itself; pandas' NA refuses to say.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
