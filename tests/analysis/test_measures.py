"""The measures against published worked examples and against packages that others wrote."""

from __future__ import annotations

import math
import random

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as independent_kappa

from rt_notebook.analysis import measures
from rt_notebook.errors import UsageError

# Fleiss (1971), Table 1: 30 patients, 6 psychiatrists; depression, personality disorder,
# schizophrenia, neurosis, other.
DIAGNOSES = [
    [int(count) for count in row]
    for row in [
        "00060", "03003", "01401", "00006", "03030", "20400", "00402", "20310", "20040", "00006",
        "10050", "11040", "03300", "10050", "02031", "00501", "30012", "51000", "02040", "10203",
        "00006", "01050", "02013", "20040", "10041", "05010", "40002", "02040", "10500", "00006",
    ]
]  # fmt: skip
# Krippendorff (2011), example C: 4 observers, 12 units, a dot where one gave no value.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
# The worked example of Wikipedia's article "Krippendorff's alpha": 3 coders, 15 units.
CODERS = (".....34121133.3", "1.213343.......", "..21344.21133.4")


def ratings(rows: tuple[str, ...]) -> list[list[int | None]]:
    return [[None if value == "." else int(value) for value in row] for row in rows]


def as_array(rows: list[list[int | None]]) -> np.ndarray:
    return np.array([[np.nan if v is None else float(v) for v in row] for row in rows])


def test_kappa_equals_fleiss_own_example() -> None:
    assert measures.fleiss_kappa(DIAGNOSES) == pytest.approx(0.430, abs=0.0005)


def test_kappa_equals_textbook_example() -> None:
    """Ten subjects, fourteen raters, five categories: the one of Wikipedia's article."""
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    assert measures.fleiss_kappa(table) == pytest.approx(0.210, abs=0.0005)


def test_alpha_equals_krippendorffs_own_example() -> None:
    assert measures.krippendorff_alpha(ratings(OBSERVERS)) == pytest.approx(0.743, abs=0.0005)


def test_alpha_equals_textbook_example() -> None:
    assert measures.krippendorff_alpha(ratings(CODERS)) == pytest.approx(0.691, abs=0.0005)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_equals_independent_package(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (test data)
    table = []
    for _ in range(12):
        row = [0, 0, 0]
        for _ in range(5):
            row[draw.randrange(3)] += 1
        table.append(row)
    expected = independent_kappa(np.array(table))
    assert measures.fleiss_kappa(table) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_independent_package(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (test data)
    rows: list[list[int | None]] = [
        [draw.choice([1, 2, 3, None]) for _ in range(15)] for _ in range(4)
    ]
    expected = krippendorff.alpha(reliability_data=as_array(rows), level_of_measurement="nominal")
    assert measures.krippendorff_alpha(rows) == pytest.approx(expected, abs=1e-12)


def test_alpha_takes_nan_and_words() -> None:
    words: list[list[str | float]] = [["a", "b", math.nan], ["a", "b", "b"]]
    assert measures.krippendorff_alpha(words) == measures.krippendorff_alpha(
        [[1, 2, None], [1, 2, 2]]
    )


def test_full_agreement_is_one() -> None:
    assert measures.fleiss_kappa([[3, 0], [0, 3]]) == 1.0
    assert measures.krippendorff_alpha([[1, 2], [1, 2], [1, 2]]) == 1.0
    assert measures.agreement(["a", "a", "a"]) == 1.0


@pytest.mark.parametrize(
    "table", [[], [[1, 0]], [[0, 0], [0, 0]], [[3, 0], [3, 0]]],
    ids=["no subject", "one rater", "all missing", "one category"],
)  # fmt: skip
def test_kappa_without_meaning_is_nan(table: list[list[int]]) -> None:
    assert math.isnan(measures.fleiss_kappa(table))


@pytest.mark.parametrize(
    "rows", [[], [[1, 2]], [[None, None], [None, None]], [[1, None], [None, 2]], [[1], [1]]],
    ids=["nobody", "one rater", "all missing", "no pair", "one value"],
)  # fmt: skip
def test_alpha_without_meaning_is_nan(rows: list[list[int | None]]) -> None:
    assert math.isnan(measures.krippendorff_alpha(rows))


def test_uneven_ratings_are_refused() -> None:
    with pytest.raises(UsageError, match=r"same number of ratings, got 2 to 3; krippendorff"):
        measures.fleiss_kappa([[3, 0], [1, 1]])
    with pytest.raises(UsageError, match="for every unit"):
        measures.krippendorff_alpha([[1, 2], [1]])


def test_entropy_equals_shannons_coin() -> None:
    assert measures.entropy([7, 3]) == pytest.approx(0.8813, abs=0.00005)
    assert measures.entropy([1, 1, 1, 1]) == 2.0
    assert measures.entropy([5, 0]) == 0.0
    assert math.copysign(1, measures.entropy([5])) == 1
    assert math.isnan(measures.entropy([]))


def test_agreement_counts_pairs() -> None:
    assert measures.agreement("aab") == pytest.approx(1 / 3)
    assert math.isnan(measures.agreement("a"))


def test_volatility_counts_seats_that_moved() -> None:
    before = {"a": 1, "b": 2, "c": 2, "new": 0}
    after = {"a": 2, "b": 1, "c": 2, "late": 1}
    # Two swapped sides, so the tally is the same; `new` and `late` have no before or after.
    assert measures.volatility(before, after) == pytest.approx(2 / 3)
    assert math.isnan(measures.volatility({}, after))


def test_conformity_is_share_of_moves_to_majority() -> None:
    before = {"a": "x", "b": "y", "c": "y", "d": "z"}
    after = {"a": "y", "b": "y", "c": "y", "d": "x"}
    assert measures.conformity(before, after) == 0.5
    assert math.isnan(measures.conformity(before, before))


def test_majority_is_that_of_the_others() -> None:
    """Of all four it is a tie; of the other three, two stand where the first one goes."""
    before = {"a": "x", "b": "x", "c": "y", "d": "y"}
    assert measures.conformity(before, {**before, "a": "y"}) == 1.0
    # Here the others are tied, and a tie is no majority.
    assert measures.conformity({"a": "x", "b": "x", "c": "y"}, {"a": "y", "b": "x", "c": "y"}) == 0


def test_persuasion_shares_a_move_between_holders() -> None:
    rounds = [
        {"a": "x", "b": "y", "c": "y"},
        {"a": "y", "b": "y", "c": "z"},
        {"a": "y", "b": "y", "c": "y"},
    ]
    assert measures.persuasion(rounds) == {
        ("a", "b"): 0.5, ("a", "c"): 0.5, ("c", "a"): 0.5, ("c", "b"): 0.5,
    }  # fmt: skip
    assert measures.persuasion(rounds[:1]) == {}


def test_consensus_must_hold_to_the_end() -> None:
    together, apart = {"a": 1, "b": 1}, {"a": 1, "b": 2}
    assert measures.time_to_consensus([apart, together, together], 2) == 1
    assert measures.time_to_consensus([together, apart, together], 2) == 2
    assert measures.time_to_consensus([together, apart], 2) is None
    assert measures.time_to_consensus([together], 3) is None
    assert measures.time_to_consensus([{"a": 1}], 1) is None
    assert measures.time_to_consensus([], 2) is None


def test_stability_is_share_of_commonest_pick() -> None:
    found = measures.stability(["a"] * 7 + ["b"] * 3 + [None])
    assert (found.pick, found.share, found.runs, found.missing) == ("a", 0.7, 10, 1)
    assert found.picks == {"a": 7, "b": 3}
    # The exact quantiles of Binomial(10, 0.7) / 10 at 2.5 and 97.5 %.
    assert found.interval == (0.4, 1.0)


def test_bootstrap_equals_binomial_quantiles() -> None:
    """Resampling one pick's share is drawing from a binomial distribution."""
    found = measures.stability(["a"] * 60 + ["b"] * 40, level=0.9)
    assert found.interval.low == pytest.approx(0.52, abs=0.011)
    assert found.interval.high == pytest.approx(0.68, abs=0.011)


def test_same_seed_gives_same_interval() -> None:
    picks = ["a"] * 37 + ["b"] * 64
    one, same = measures.stability(picks, seed=1), measures.stability(picks, seed=1)
    assert one == same
    assert one.interval.low < one.share < one.interval.high


def test_unanimous_and_missing_runs() -> None:
    assert measures.stability(["a"] * 4).interval == (1.0, 1.0)
    none = measures.stability([None, None])
    assert (none.pick, none.runs, none.missing) == (None, 0, 2)
    assert math.isnan(none.share)
    with pytest.raises(UsageError, match="level=1"):
        measures.stability(["a"], level=1)
