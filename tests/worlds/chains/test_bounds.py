"""The best possible reader, against one that counts every example of a small world."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from hardgap.worlds.chains.bounds import also_fitted, best_pair, best_second, best_value, every_result, filters
from hardgap.worlds.chains.chains import Arithmetic

WORLDS = [Arithmetic.of("^|&LR", bits=2), Arithmetic.of("^|&rdLR", bits=1), Arithmetic.of("d|R", bits=3)]
Example = tuple[int, int, int, int, int]  # op1, op2, a, b, c


def chains(world: Arithmetic) -> Callable[[int, int, int, int, int], tuple[int, int]]:
    tables = [one.table(world.bits) for one in world.operators]

    def results(op1: int, op2: int, a: int, b: int, c: int) -> tuple[int, int]:
        e = int(tables[op1][a, b])
        return e, int(tables[op2][e, c])

    return results


def every_example(world: Arithmetic) -> list[Example]:
    ops, words = range(len(world.operators)), range(world.size)
    return list(itertools.product(ops, ops, words, words, words))


def fits(world: Arithmetic, example: Example) -> list[tuple[int, int, int]]:
    """Every pair that turns a, b, c into the example's d, with its e."""
    results, (_, _, *operands), ops = chains(world), example, range(len(world.operators))
    d = results(*example)[1]
    found = ((op1, op2, results(op1, op2, *operands)) for op1 in ops for op2 in ops)
    return [(op1, op2, e) for op1, op2, (e, got) in found if got == d]


def keeps(world: Arithmetic, example: Example) -> list[bool]:
    """Each filter by its words, in their order."""
    op1, op2, a, b, _ = example
    e = chains(world)(*example)[0]
    others = [one for one in fits(world, example) if one[:2] != (op1, op2)]
    shown = sum(int(one.table(world.bits)[a, b]) == e for one in world.operators) == 1
    second = not any(other[0] == op1 for other in others)
    first = not any(other[1] == op2 for other in others)
    return [True, shown, second, shown and second, first, first and second, not others]


def guessed(examples: list[tuple[object, object]]) -> float:
    """Of (what is shown, what is asked) the share that is right if the most frequent answer is given."""
    answers: dict[object, Counter[object]] = defaultdict(Counter)
    for shown, asked in examples:
        answers[shown][asked] += 1
    return sum(max(counts.values()) for counts in answers.values()) / len(examples)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{len(world.operators)} operators, {world.bits} bits")
def test_every_bound_is_what_counting_finds(world: Arithmetic) -> None:
    d, results, examples = every_result(world), chains(world), every_example(world)
    kept = [keeps(world, one) for one in examples]
    for place, (name, mask) in enumerate(filters(world, d).items()):
        some = [one for one, keep in zip(examples, kept, strict=True) if keep[place]]
        assert mask.sum() == len(some), name
        if some:
            pairs = [((*one[2:], results(*one)[1]), one[:2]) for one in some]
            seconds = [((*one[2:], *results(*one)), one[1]) for one in some]
            assert best_pair(d, mask) == pytest.approx(guessed(pairs)), name
            assert best_second(d, mask) == pytest.approx(guessed(seconds)), name
    alone = Counter(one[:2] for one, keep in zip(examples, kept, strict=True) if keep[-1])
    for pair in itertools.product(range(len(world.operators)), repeat=2):
        assert also_fitted(d)[pair] == pytest.approx(1 - alone[pair] / world.size**3)
    values = [((*one[2:], results(*one)[1], u), results(*one[:4], u)[1]) for one in examples for u in range(world.size)]
    assert best_value(d) == pytest.approx(guessed(values))
