# %% [markdown]
# # Reading the ledger
#
# Every claim of the paper is a *study*: its runs, its published numbers, its table, and a verdict by fixed rules. This
# notebook reads some of the committed measurements. Nothing is trained.

# %%
import tempfile
from pathlib import Path

import pandas as pd

import hardgap as hg
from hardgap.runs.results import import_runs
from hardgap.runs.store import Store

pd.set_option("display.max_colwidth", None)
claims = pd.Series(hg.list_studies(), name="claim").rename_axis("study")
claims[claims.index.str.startswith("main/")].to_frame()

# %% [markdown]
# ## Measured beside published
#
# A store is a folder. `hardgap runs import results/` takes all committed runs in; here those of the main table:

# %%
store = Store(Path(tempfile.mkdtemp()))
new, known = import_runs(store, Path("../../results/main"))
new

# %%
found = hg.study("main/rule-150-long").measure(store)
found

# %%
found.verdict

# %% [markdown]
# *Differs (lower)*: 47 of 60 published runs recover, 14 of 60 here, in fewer steps, and chance does not explain it.
# Beside a desk-scale verdict stands its scale, always: rows are 11 cells wide instead of 101, so the difference may be
# one of scale. A row that agrees looks like this:

# %%
hg.study("main/rule-d-soft").measure(store)

# %% [markdown]
# ## Behind a number
#
# Numbers are made of runs. Which runs of Rule 150 failed, and how? A frame has a row for each, with its config:

# %%
runs = hg.results(store, rule=150, unrolling__feedback="soft", budget__steps=2640)
frame = runs.frame()
frame["hidden"] = frame["hide"].map(lambda hide: f"{hide[0]:03b}")
frame["recovered"] = frame["final_holdout"] >= 0.7
frame.groupby("hidden").agg(
    runs=("run", "size"), recovered=("recovered", "sum"), visible=("final_visible", "mean")
).round(3)

# %% [markdown]
# Networks that fail know nearly everything visible. They are not undertrained in the usual sense: they are sure of the
# wrong value.

# %%
failed = frame[~frame["recovered"]]
print(
    f"{len(failed)} runs fail; {(failed['final_holdout'] <= 0.01).sum()} of them have at most 1 % of hidden cells right"
)

# %% [markdown]
# And one of them, whole:

# %%
next(one for one in runs if one.holdout < 0.01)

# %% [markdown]
# ## All of it
#
# `hardgap report` makes one page of everything in a second or two; the committed one is [the report](../report.html).
# [Verdicts](../verdicts.md) has the rules, [fidelity](../fidelity.md) every choice that the paper leaves open, and
# [findings](../findings.md) a paragraph for each contradiction, with what would settle it.
