"""The tree lemma (paper, Lemma on decision trees and Random Forests), by exhausting subcubes.

Axis-aligned splits of the cube cut it into subcubes, so the leaf that p falls into is a subcube through p, and
so is each of its ancestors. A tree's answer at p is the majority of the visible points of that leaf or, when
the leaf is {p} alone and thus empty, of whatever ancestor it falls back to. If every subcube through p with at
least one free coordinate has a wrong majority, every tree is wrong at p under all of these conventions.

The lemma asks that each leaf predicts the majority of the *training set*. A Random Forest as it is usually
meant grows every tree on a resample, in which visible points may be missing; a tree can then be right at p.
For three bits that chance is a rational number: a fully grown tree that draws one splitting coordinate at a
time (scikit-learn's default for three features) depends only on which points are present.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardgap.theory.cube import Ints, LabelFamily, dimension, parity, subcube_votes, subcube_votes_of_set
from hardgap.theory.statement import Statement

MAX_N = 12


def vote_extremes(labels: Ints) -> Ints:
    """Entry [p] is (lowest, highest) vote for the label of p over all subcubes through p but {p} itself."""
    extremes = np.empty((labels.size, 2), dtype=np.int64)
    for start in range(0, labels.size, 256):  # 256 · 2¹² votes of two bytes at a time
        points = np.arange(start, min(start + 256, labels.size))
        votes = subcube_votes(labels, points)[:, 1:]
        extremes[points] = np.stack([votes.min(1), votes.max(1)], axis=1)
    return extremes


def vote_extremes_of_set(labels: Ints, hidden: Ints) -> Ints:
    """Entry [i] is the same for hidden[i], all of them hidden at once, over the subcubes in which something is visible.

    An empty leaf falls back to an ancestor, which is one of those.
    """
    votes, voters = subcube_votes_of_set(labels, hidden)
    lowest = np.where(voters > 0, votes, np.iinfo(np.int16).max).min(1)
    highest = np.where(voters > 0, votes, np.iinfo(np.int16).min).max(1)
    return np.stack([lowest, highest], axis=1).astype(np.int64)


def lemma_trees(labels: LabelFamily = parity, max_n: int = MAX_N) -> Statement:
    highest = {n: int(vote_extremes(labels(n))[:, 1].max()) for n in range(1, max_n + 1)}
    right = [n for n in highest if highest[n] >= 0]
    subcubes = sum(2**n * (2**n - 1) for n in highest)
    return Statement(
        name="Lemma (trees)",
        claim="every axis-aligned tree grown on all visible points is wrong at p; empty leaves ask any ancestor",
        cases=f"all {subcubes:,} subcubes through a hidden point, n = 1 … {max_n}; root, parent or any fallback",
        as_far_as=f"n = {max_n}",
        holds=not right,
        detail=f"some leaf is not wrong for n = {right}" if right else "every leaf is wrong by exactly one vote",
    )


def lemma_constant_fallback(labels: LabelFamily = parity) -> Statement:
    """What the lemma's convention is for: a fixed default label for empty leaves can be right."""
    y = labels(3)
    right = {default: [p for p in range(8) if y[p] == default] for default in (1, -1)}
    return Statement(
        name="Lemma (fixed default)",
        claim="the lemma also holds if an empty leaf answers one fixed label",
        cases="n = 3: every p, both labels, the leaf {p}",
        holds=not any(right.values()),
        detail=f"default 0 is right at p = {right[1]}, default 1 at {right[-1]}; scikit-learn makes no empty leaf",
        published=False,
        expected=False,
    )


def estimators(n: int) -> dict[str, Any]:
    """scikit-learn's own estimators, by a name that says which statement they belong to."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    found: dict[str, Any] = {
        f"tree, {criterion}, {splitter}, depth {depth}": DecisionTreeClassifier(
            criterion=criterion, splitter=splitter, max_depth=depth, random_state=depth
        )
        for criterion in ("gini", "entropy")
        for splitter in ("best", "random")
        for depth in range(1, n + 1)
    }
    found["forest without bootstrap"] = RandomForestClassifier(8, bootstrap=False, random_state=0)
    found["extra trees"] = ExtraTreesClassifier(8, random_state=0)
    found["kernel ridge"] = KernelRidge(kernel="rbf", gamma=0.7, alpha=0.1)
    found["GP"] = GaussianProcessRegressor(RBF(0.8), alpha=0.1, optimizer=None)
    found |= {f"SVM, C = {C}": SVC(C=C, gamma=0.7) for C in (0.1, 1.0, 100.0)}
    ks = (1, 3, 5, 7) if n == 3 else (1, 3)
    found |= {f"{k}-NN": KNeighborsClassifier(k) for k in ks if k < 1 << n}
    return found


def wrong_everywhere(estimator: Any, labels: Ints) -> NDArray[np.bool_]:
    """For each point: is the estimator wrong there after fitting all others?"""
    n = dimension(labels)
    points = ((np.arange(labels.size)[:, None] >> np.arange(n)) & 1).astype(np.float64)
    wrong = np.empty(labels.size, dtype=bool)
    for p in range(labels.size):
        visible = np.arange(labels.size) != p
        answer = estimator.fit(points[visible], labels[visible]).predict(points[[p]])[0]
        wrong[p] = answer * labels[p] < 0
    return wrong


def scikit_learn_agrees(labels: LabelFamily = parity, sizes: tuple[int, ...] = (2, 3)) -> Statement:
    answers = {
        (n, name): wrong_everywhere(estimator, labels(n)) for n in sizes for name, estimator in estimators(n).items()
    }
    right = [f"{name} (n = {n})" for (n, name), wrong in answers.items() if not wrong.all()]
    return Statement(
        name="scikit-learn agrees",
        claim="scikit-learn's trees, forests, k-NN, GP, kernel ridge and SVM are wrong at every hidden point",
        cases=f"{len(answers)} estimators, {sum(w.size for w in answers.values())} fits, n = {sizes[0]} … {sizes[-1]}",
        as_far_as=f"n = {sizes[-1]}",
        holds=not right,
        detail=f"right somewhere: {', '.join(right[:3])}" if right else "no exception",
    )


def tree_right(labels: Ints, p: int, present: frozenset[int]) -> Fraction:
    """The chance that a fully grown tree on these points names the label of p.

    At every impure node one coordinate is drawn uniformly among those in which the node's points differ.
    """
    bits = [1 << i for i in range(dimension(labels))]

    @cache
    def right(points: frozenset[int]) -> Fraction:
        if len({int(labels[q]) for q in points}) == 1:
            return Fraction(int(labels[next(iter(points))] == labels[p]))
        sides = [frozenset(q for q in points if not (q ^ p) & bit) for bit in bits]
        proper = [side for side in sides if 0 < len(side) < len(points)]
        return sum(map(right, proper), Fraction(0)) / len(proper)

    return right(present)


def onto(draws: int, size: int) -> int:
    """In how many ways `draws` draws hit every one of `size` points."""
    return sum((-1) ** j * comb(size, j) * (size - j) ** draws for j in range(size + 1))


def bootstrapped_tree_right(labels: Ints, p: int, copies: int = 1) -> Fraction:
    """The chance for a tree on a bootstrap resample of all points but p, each given `copies` times."""
    visible = [q for q in range(labels.size) if q != p]
    draws = copies * len(visible)
    chance = Fraction(0)
    for size in range(1, len(visible) + 1):
        share = Fraction(onto(draws, size), len(visible) ** draws)
        chance += share * sum(tree_right(labels, p, frozenset(q)) for q in combinations(visible, size))
    return chance


def forest_right(tree: Fraction, trees: int) -> Fraction:
    """The chance that more than half of `trees` independent trees are right."""
    return sum(
        (comb(trees, k) * tree**k * (1 - tree) ** (trees - k) for k in range(trees // 2 + 1, trees + 1)), Fraction(0)
    )


def lemma_bootstrapped_forests() -> Statement:
    chances = {bootstrapped_tree_right(parity(3), p) for p in range(8)}
    tree = max(chances)
    ten, hundred = (float(forest_right(tree, trees)) for trees in (10, 100))
    return Statement(
        name="Conclusion (Random Forests)",
        claim="n = 3: Random Forests, as usually grown on bootstrap resamples, are provably wrong at p",
        cases="every hidden point, all 7⁷ resamples, every draw of splitting coordinates",
        holds=tree == 0,
        detail=f"one tree is right with chance {tree} = {float(tree):.2%}, 10 trees {ten:.0e}, 100 trees {hundred:.0e}:"
        " true in the limit, not for every forest",
        expected=False,
    )


def lemma_full_support() -> Statement:
    """The repair: as long as no visible point is missing from the resample, multiplicities do not matter."""
    y = parity(3)
    right = [p for p in range(8) if tree_right(y, p, frozenset(set(range(8)) - {p})) > 0]
    falling = [bootstrapped_tree_right(y, 0, copies) for copies in (1, 2, 4)]
    return Statement(
        name="Forests (all points present)",
        claim="n = 3: a fully grown tree is wrong at p if every visible point occurs, however often",
        cases="every hidden point, every draw of splitting coordinates",
        holds=not right and falling == sorted(falling, reverse=True),
        detail="with each point given 1, 2, 4 times a bootstrapped tree is right with chance "
        + ", ".join(f"{float(chance):.2g}" for chance in falling),
        published=False,
    )
