# %% [markdown]
# # Your own network
#
# Does *your* network recover rules that it was never shown? A network is any `nn.Module` that is called with the row
# width and maps rows `[rows, width]` to logits of the same shape. It stands in a file, because worker processes import
# it; these two are in `nets.py`, beside this notebook:

# %%
import inspect
import tempfile

import nets

import hardgap as hg

print(inspect.getsource(nets.Window))

# %% [markdown]
# One that is defined in the notebook itself could not be found by others, and is refused in a sentence:

# %%
from torch import nn


class Mine(nn.Module):
    pass


try:
    hg.Automaton(150, hide=2, model=Mine)
except hg.BadInput as refusal:
    print(refusal)

# %% [markdown]
# ## One run
#
# Before it is trained it is looked at: shapes, gradients, whether rows of one batch influence one another, whether it
# can be saved and loaded. Then it is a network like any other.

# %%
store = tempfile.mkdtemp()
result = hg.train(hg.Automaton(150, hide=2, model=nets.Window), store, watch=False)
result

# %% [markdown]
# ## A comparison
#
# Networks side by side, two seeds each, on as many processes as there are cores. Arguments go along in a table. What
# is in the store already is not trained again.

# %%
wide = {"factory": "nets:Window", "args": {"radius": 2}}
runs = hg.grid(hg.Automaton(150, hide=2), model=[nets.Window, wide, nets.Whole], seed=range(2))
results = hg.sweep(runs, store, watch=False)
results

# %% [markdown]
# The same as a frame, a row a run, the config in columns:

# %%
frame = results.frame()
frame["radius"] = frame.get("model.args.radius")
frame.groupby(["model.factory", "radius"], dropna=False)[["final_visible", "final_holdout"]].mean().round(3)

# %% [markdown]
# On the machine that built this page, the window of three cells fills the gap on both seeds. The window of five knows
# nearly as much of what is visible, and is wrong about the hidden entry every single time; the network that sees the
# whole row has not even learned what it was shown. So seeing *less* helps, which is a finding about these networks in
# 600 steps and not yet a result: a success rate wants ten seeds and an interval ([sweeps](../howto/sweeps.md)).
#
# ## Nothing leaked
#
# Code of your own could peek. The certificate trains twice, the second time in a world with the opposite of every
# hidden output, and compares every bit:

# %%
result.certify(steps=20).passed

# %% [markdown]
# The code belongs to the run: its SHA-256 is part of the config, so that an edited network is another run, never a
# stale result.

# %%
result.run.model
