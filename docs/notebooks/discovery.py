# %% [markdown]
# # The moment of discovery
#
# A network is trained on a rule with one entry missing, and finds the entry. Here it is trained in front of you,
# filmed, and opened. About half a minute of one core; every cell can be run as it stands (`jupytext --to ipynb` makes
# a notebook of this script, or open it in an editor that knows `# %%`).

# %%
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

import hardgap as hg

run = hg.Automaton(150, hide="101")
run.gap.rule

# %% [markdown]
# Rule 150: a cell becomes the parity of itself and its two neighbours. Now the entry for `101` goes. Wherever that
# neighbourhood occurs in training, at whatever step, the cell that it makes is left out of the loss: framed below.

# %%
run.gap

# %% [markdown]
# ## Train
#
# The network predicts four steps in a row. From the second step on it is fed its own predictions, as probabilities, so
# what it answers for a hidden cell is an input a step later, and there a *visible* cell may contradict it. That is all
# the evidence there is.

# %%
store = tempfile.mkdtemp()  # a folder of yours keeps what was trained: the same call is free then
result = hg.train(run, store, watch=False)
result

# %% [markdown]
# ## Film
#
# Look at the curve: visible accuracy is high long before the hidden entry is right, and the hidden one is not at
# chance before the jump but at 0 %. The network is *sure of the wrong answer*, which is what similarity says, and then
# changes its mind. Pattern by pattern, in percent:

# %%
film = pd.DataFrame(
    [[100 * share for share in point["detail"]["patterns"]] for point in result.curve],
    index=pd.Index([point["step"] for point in result.curve], name="step"),
    columns=[run.gap.rule.pattern_text(pattern) for pattern in range(8)],
)
film.round(0).astype(int)

# %% [markdown]
# Weights were kept along the way. Each frame below is a network's own rollout from the same row: eight steps, each
# prediction, rounded, the next input. Orange cells are wrong.


# %%
def own_rollout(network: torch.nn.Module, row: np.ndarray, steps: int = 8) -> np.ndarray:
    """What the network makes of a row, step by step."""
    states = [torch.tensor(row, dtype=torch.float32)[None]]
    with torch.no_grad():
        for _ in range(steps):
            states.append((network(states[-1]) > 0).float())
    return torch.cat(states).numpy().astype(int)


row = np.random.default_rng(1).integers(0, 2, run.width, dtype=np.uint8)
truth = run.gap.trajectory(row[None], 8).states[:, 0]
kept = result.snapshots
chosen = sorted({kept[i] for i in np.linspace(0, len(kept) - 1, 5).round().astype(int)})
figure, axes = plt.subplots(1, len(chosen) + 1, figsize=(10, 2.2))
shades = np.array([[1.0, 1.0, 1.0], [0.17, 0.2, 0.25], [0.88, 0.51, 0.08]])
axes[0].imshow(shades[truth.astype(int)])
axes[0].set_title("truth", fontsize=10)
for axis, step in zip(axes[1:], chosen, strict=True):
    own = own_rollout(result.model(step), row)
    axis.imshow(shades[np.where(own == truth, own, 2)])
    axis.set_title(f"step {step}", fontsize=10)
for axis in axes:
    axis.set_xticks([])
    axis.set_yticks([])
figure.tight_layout()

# %% [markdown]
# `hardgap ui` shows the same film with a slider under it, and writes it as an animated GIF.
#
# ## Open the network
#
# What does it compute? The table below is read off the trained network, over many contexts for each neighbourhood; the
# hidden entry is among them.

# %%
found = result.open("rule", "consistency")
found["rule"]

# %% [markdown]
# And does that agree with everything that it was shown? Its free run on training rows, compared with the visible
# cells:

# %%
found["consistency"]

# %% [markdown]
# ## What this shows, and what not
#
# One run is an anecdote. On your machine the same config may take another course, since the last bits of
# floating-point sums differ between processors ([machines](../machines.md)); if it did not find the entry, try
# `seed=1`. How often it is found, and which entries never are, is what the [main table](../main-table.md) counts, seed
# by seed, beside the paper's numbers. And no hidden target reached training: trained again in a world where the hidden
# entry is the opposite, not a bit of it changes.

# %%
result.certify(steps=20).passed
