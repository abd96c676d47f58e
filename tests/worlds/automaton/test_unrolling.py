"""Each regime's loss and gradient against formulas worked out by hand.

The network is one weight and one bias, `logit = a·x + b`, cell by cell. With y the targets, p = sigmoid, and
x1 what is fed back after the first step, two steps weighted w1, w2 give

    dL/da = w1 (p(l1) - y1) x0 + w2 (p(l2) - y2) (x1 + a x1' x0)
    dL/db = w1 (p(l1) - y1)    + w2 (p(l2) - y2) (1  + a x1')

where x1' = dx1/dl1 is p'(l1/T)/T for soft feedback, and p'(l1) for hard feedback although x1 is 0 or 1.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from hardgap.worlds.automaton.regime import Temperature, Unrolling
from hardgap.worlds.automaton.unrolling import LOG_TEMPERATURE, feed_back, give_temperature, unroll, unrolled_loss


class Line(nn.Module):
    """logit = a·x + b for every cell."""

    def __init__(self, a: float, b: float) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.tensor(a, dtype=torch.float64))
        self.b = nn.Parameter(torch.tensor(b, dtype=torch.float64))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.a * x + self.b


def p(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def slope(x: float) -> float:
    return p(x) * (1 - p(x))


def cross_entropy(logit: float, target: int) -> float:
    return -math.log(p(logit) if target else 1 - p(logit))


def by_hand(
    a: float, b: float, x0: float, y: tuple[int, int], w: tuple[float, float], feedback: str, temperature: float = 1.0
) -> tuple[float, float, float]:
    """Loss, dL/da and dL/db of two unrolled steps."""
    first = a * x0 + b
    if feedback == "hard":
        x1, x1_slope = float(first > 0), slope(first)
    else:
        x1, x1_slope = p(first / temperature), slope(first / temperature) / temperature
    second = a * x1 + b
    e1, e2 = w[0] * (p(first) - y[0]), w[1] * (p(second) - y[1])
    loss = w[0] * cross_entropy(first, y[0]) + w[1] * cross_entropy(second, y[1])
    return loss, e1 * x0 + e2 * (x1 + a * x1_slope * x0), e1 + e2 * (1 + a * x1_slope)


def by_code(
    a: float, b: float, x0: float, y: tuple[int, ...], regime: Unrolling, mask: tuple[float, ...] = (1.0, 1.0)
) -> tuple[float, float, float]:
    model = Line(a, b)
    rows = torch.tensor([[x0]], dtype=torch.float64)
    targets = torch.tensor(y, dtype=torch.float64).view(-1, 1, 1)
    supervised = torch.tensor(mask, dtype=torch.float64).view(-1, 1, 1)
    loss = unrolled_loss(model, rows, targets, supervised, regime)
    loss.backward()
    assert model.a.grad is not None
    assert model.b.grad is not None
    return float(loss.detach()), float(model.a.grad), float(model.b.grad)


POINTS = list(product([-2.0, 0.7], [-0.4, 1.5], [0.0, 1.0], product((0, 1), repeat=2)))


@pytest.mark.parametrize("feedback", ["soft", "hard"])
def test_two_steps_by_hand(feedback: str) -> None:
    for a, b, x0, y in POINTS:
        regime = Unrolling(feedback=feedback, steps=2)
        assert by_code(a, b, x0, y, regime) == pytest.approx(by_hand(a, b, x0, y, (1, 1), feedback), abs=1e-12)


@pytest.mark.parametrize("temperature", [0.25, 2.0, 8.0])
def test_temperature_divides_the_logit_that_is_fed_back_and_nothing_else(temperature: float) -> None:
    regime = Unrolling(steps=2, temperature=Temperature(start=temperature, end=temperature))
    for a, b, x0, y in POINTS:
        expected = by_hand(a, b, x0, y, (1, 1), "soft", temperature)
        assert by_code(a, b, x0, y, regime) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [(2.0, 0.5), (0.0, 1.0), (1.0, 0.0)])
def test_step_weights_by_hand(weights: tuple[float, float]) -> None:
    regime = Unrolling(steps=2, weights=weights)
    for a, b, x0, y in POINTS:
        expected = by_hand(a, b, x0, y, weights, "soft")
        assert by_code(a, b, x0, y, regime) == pytest.approx(expected, abs=1e-12)


def test_none_sees_one_step_and_asks_the_network_once() -> None:
    regime = Unrolling(feedback="none", steps=1)
    for a, b, x0, (y1, _) in POINTS:
        expected = by_hand(a, b, x0, (y1, 0), (1, 0), "soft")
        assert by_code(a, b, x0, (y1,), regime, (1.0,)) == pytest.approx(expected, abs=1e-12)
    model = Line(1.0, 0.0)
    assert len(list(unroll(model, torch.zeros(1, 1, dtype=torch.float64), regime))) == model.calls == 1


@pytest.mark.parametrize("feedback", ["soft", "hard"])
def test_a_hidden_first_cell_learns_from_the_second_step_alone(feedback: str) -> None:
    """The paper's mechanism: no target for the hidden output, but a gradient through it."""
    regime = Unrolling(feedback=feedback, steps=2)
    for a, b, x0, y in POINTS:
        found = by_code(a, b, x0, y, regime, mask=(0.0, 1.0))
        assert found == pytest.approx(by_hand(a, b, x0, y, (0, 1), feedback), abs=1e-12)
        assert found == by_code(a, b, x0, (1 - y[0], y[1]), regime, mask=(0.0, 1.0))
        assert found[1] != 0 or found[2] != 0


def test_hard_feedback_is_exactly_binary_and_passes_the_gradient_of_the_probability() -> None:
    logits = torch.linspace(-30, 30, 601, requires_grad=True)
    fed = feed_back(logits, "hard")
    assert set(fed.detach().tolist()) == {0.0, 1.0}
    assert torch.equal(fed.detach(), (logits.detach() > 0).float())
    fed.sum().backward()
    probability = torch.sigmoid(logits.detach())
    torch.testing.assert_close(logits.grad, probability * (1 - probability))


def test_soft_is_temperature_one_bit_for_bit() -> None:
    logits = torch.randn(1000, generator=torch.Generator().manual_seed(0)) * 5
    assert torch.equal(feed_back(logits, "soft", 1.0), torch.sigmoid(logits))
    assert torch.equal(feed_back(logits, "soft", 1.0), feed_back(logits, "soft"))
    annealed = Unrolling(steps=3, temperature=Temperature(start=3.0, end=1.0, over=10))
    rows = torch.rand(2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    model = Line(1.3, -0.2)
    plain = torch.stack(list(unroll(model, rows, Unrolling(steps=3))))
    assert torch.equal(plain, torch.stack(list(unroll(model, rows, annealed, step=10))))
    assert not torch.equal(plain, torch.stack(list(unroll(model, rows, annealed, step=9))))


def test_a_high_temperature_keeps_the_gradient_alive_where_soft_loses_it() -> None:
    confident = torch.tensor([20.0], dtype=torch.float64, requires_grad=True)
    slopes = [torch.autograd.grad(feed_back(confident, "soft", t).sum(), confident)[0].item() for t in (1.0, 4.0, 16.0)]
    assert slopes == pytest.approx([slope(20), slope(5) / 4, slope(20 / 16) / 16], rel=1e-4)
    assert slopes[0] < 1e-8 < slopes[1] < slopes[2]


def test_soft_gradients_equal_finite_differences_over_four_steps() -> None:
    torch.manual_seed(0)
    weight = torch.randn(5, 5, dtype=torch.float64, requires_grad=True)
    rows = torch.randint(0, 2, (3, 5)).double()
    targets, mask = torch.randint(0, 2, (4, 3, 5)).double(), torch.randint(0, 2, (4, 3, 5)).double()
    regime = Unrolling(steps=4, weights=(1, 2, 0.5, 1), temperature=Temperature(start=2, end=2))

    class Mix(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x @ weight

    assert torch.autograd.gradcheck(lambda _: unrolled_loss(Mix(), rows, targets, mask, regime), (weight,))


@pytest.mark.parametrize("feedback", ["soft", "hard"])
@pytest.mark.parametrize("backward", [0.5, 8.0, "identity"])
def test_straight_through_changes_the_gradient_and_nothing_else(feedback: str, backward: float | str) -> None:
    logits = torch.linspace(-20, 20, 41, dtype=torch.float64, requires_grad=True)
    fed = feed_back(logits, feedback, 2.0 if feedback == "soft" else 1.0, backward)
    torch.testing.assert_close(fed, feed_back(logits, feedback, 2.0 if feedback == "soft" else 1.0), rtol=0, atol=1e-15)
    found = torch.autograd.grad(fed.sum(), logits)[0].tolist()
    if isinstance(backward, str):
        assert found == [0.25] * 41  # the slope of a sigmoid at 0, everywhere
    else:
        assert found == pytest.approx([slope(x / backward) / backward for x in logits.tolist()], abs=1e-15)


def test_only_the_chosen_cells_are_tempered() -> None:
    rows = torch.rand(2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    visible = torch.tensor([[[1, 0, 1, 0, 0], [0, 0, 1, 1, 1]]]).double().expand(2, 2, 5)
    model, warm = Line(1.3, -0.2), Temperature(start=4, end=4)

    def second(**regime: object) -> Tensor:
        return list(unroll(model, rows, Unrolling(steps=2, **regime), supervised=visible))[1]  # type: ignore[arg-type]

    plain, all_cells = second(), second(temperature=warm)
    assert not torch.isclose(plain, all_cells).any()
    for cells, chosen in (("hidden", visible[0] == 0), ("visible", visible[0] == 1)):
        assert torch.equal(second(temperature=warm, cells=cells), torch.where(chosen, all_cells, plain))
    with pytest.raises(ValueError, match="which cells are visible"):
        list(unroll(model, rows, Unrolling(steps=2, temperature=warm, cells="hidden")))


def test_noise_is_drawn_anew_at_every_step_and_repeats_with_the_seed() -> None:
    rows, regime = torch.zeros(4, 6), Unrolling(steps=3, noise=1.0)
    model = Line(1.0, 0.5)

    def unrolled() -> Tensor:
        torch.manual_seed(3)
        return torch.stack(list(unroll(model, rows, regime)))

    once = unrolled()
    assert torch.equal(once, unrolled())
    assert once[0].unique().numel() == 1 < once[1].unique().numel()
    assert not torch.equal(once[1], once[2])


def test_a_random_temperature_is_one_a_row_and_within_its_range() -> None:
    logits, spec = torch.full((2000, 3), 2.0, dtype=torch.float64), Temperature(start=8.0, end=0.5, shape="random")
    torch.manual_seed(0)

    class Always(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            fed.append(x)
            return logits

    fed: list[Tensor] = []
    list(unroll(Always(), torch.zeros_like(logits), Unrolling(steps=3, temperature=spec)))
    first, second = (2.0 / torch.log(x / (1 - x)) for x in fed[1:])  # the temperatures
    for temperatures in (first, second):
        assert torch.allclose(temperatures, temperatures[:, :1])
        assert temperatures.min() >= 0.5 - 1e-9
        assert temperatures.max() <= 8 + 1e-9
        assert temperatures.median() == pytest.approx(2.0, rel=0.15)  # log-uniform: the geometric mean
    assert not torch.allclose(first, second)


def test_some_cells_are_rounded_and_their_gradient_is_not() -> None:
    logits = torch.linspace(-3, 3, 4000, dtype=torch.float64).view(40, 100).requires_grad_()
    torch.manual_seed(0)

    class Once(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            fed.append(x)
            return logits

    fed: list[Tensor] = []
    list(unroll(Once(), torch.zeros_like(logits), Unrolling(steps=2, rounded=0.25)))
    soft = torch.sigmoid(logits.detach())
    rounded = fed[1].detach() != soft
    assert torch.allclose(fed[1][rounded].detach(), (soft[rounded] > 0.5).double())
    assert float(rounded.double().mean()) == pytest.approx(0.25, abs=0.03)
    slopes = torch.autograd.grad(fed[1].sum(), logits)[0]
    torch.testing.assert_close(slopes, soft * (1 - soft))


def test_a_learned_temperature_is_a_parameter_and_gets_the_gradient_of_a_given_one() -> None:
    rows = torch.tensor([[0.0, 1.0, 1.0]], dtype=torch.float64)
    targets, mask = torch.ones(2, 1, 3, dtype=torch.float64), torch.ones(2, 1, 3, dtype=torch.float64)
    regime = Unrolling(steps=2, temperature=Temperature(start=3.0, shape="learned"))
    model = give_temperature(Line(1.3, -0.2), regime).double()
    loss = unrolled_loss(model, rows, targets, mask, regime)
    loss.backward()

    def at(temperature: float) -> float:
        given = Unrolling(steps=2, temperature=Temperature(start=temperature, end=temperature))
        return float(unrolled_loss(Line(1.3, -0.2), rows, targets, mask, given).detach())

    assert float(loss.detach()) == pytest.approx(at(3.0), abs=1e-6)
    slope_of_log = (at(3.0 * math.exp(1e-5)) - at(3.0 * math.exp(-1e-5))) / 2e-5
    grad = model.get_parameter(LOG_TEMPERATURE).grad
    assert grad is not None
    assert float(grad) == pytest.approx(slope_of_log, rel=1e-5)


def test_there_is_no_other_feedback() -> None:
    with pytest.raises(ValueError, match="nothing is fed back under 'none'"):
        feed_back(torch.zeros(1), "none")
