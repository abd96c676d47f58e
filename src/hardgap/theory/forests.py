"""What bootstrapping does to the tree lemma: the exact chance that a Random Forest is right.

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

from hardgap.theory.cube import Ints, dimension, parity
from hardgap.theory.statement import Statement


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
