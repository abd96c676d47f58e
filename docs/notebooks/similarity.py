# %% [markdown]
# # What similarity must say
#
# Most of what machine learning does with a missing example is to look at similar ones. For some gaps this *must* fail,
# whatever the distance, the kernel or the number of neighbours. This notebook works that out, without training
# anything but the baselines.

# %%
import pandas as pd

import hardgap as hg
from hardgap.theory.votes import votes
from hardgap.worlds.automaton.baselines.input_space import predict_hidden
from hardgap.worlds.automaton.baselines.methods import METHODS
from hardgap.worlds.automaton.rule import parse_rule

gap = hg.Automaton(150, hide="010").gap
gap

# %% [markdown]
# ## By hand
#
# The hidden neighbourhood is a corner of a cube; its seven visible neighbours are the other corners. How far away are
# they, and what do they say?

# %%
rule, (hidden,) = gap.rule, gap.hidden
corners = pd.DataFrame(
    [
        {"neighbourhood": rule.pattern_text(p), "distance": (p ^ hidden).bit_count(), "output": int(rule.table[p])}
        for p in gap.visible
    ]
)
corners.sort_values(["distance", "neighbourhood"]).reset_index(drop=True)

# %% [markdown]
# Parity changes with every bit. So all corners at distance 1 say the opposite of the truth, all at distance 2 the
# truth, the one at distance 3 the opposite again. The truth for `010` is 1. Let votes count less with distance, in
# whatever way:

# %%
true = int(rule.table[hidden])
for name, weights in {
    "nearest only": (1, 0, 0),
    "1, ½, ¼": (1, 0.5, 0.25),
    "1, 1, 0": (1, 1, 0),
    "all alike": (1, 1, 1),
}.items():
    vote = sum(weights[c.distance - 1] * (1 if c.output == true else -1) for c in corners.itertuples())
    print(f"{name:14s} {vote:+.2f}  {'right' if vote > 0 else 'a tie' if vote == 0 else 'wrong'}")

# %% [markdown]
# No choice of falling weights is right; the best is a tie. That is Theorem 1 of the paper for n = 3, and `votes` does
# it exactly for any rule: every way of weighting, of kernel width and noise, of growing a tree.

# %%
pd.DataFrame(
    {
        row.text: {"true output": row.output} | {name: one.verdict for name, one in row.methods.items()}
        for row in votes(parse_rule("150"))
    }
)

# %% [markdown]
# *Wrong* means that every method of the family is wrong, *never right* that the best is a tie. Not every rule is like
# this. Of Rule 110, which is not parity:

# %%
pd.DataFrame({row.text: {name: one.verdict for name, one in row.methods.items()} for row in votes(parse_rule("110"))})

# %% [markdown]
# There, similarity can be right on some patterns, and recovery of those would show nothing. This is why the gap is
# chosen as it is.
#
# ## And the methods themselves
#
# scikit-learn's, fitted on the seven visible entries and asked for the eighth:

# %%
answers = predict_hidden(gap, METHODS)
pd.DataFrame({"answer": {name: int(one[0]) for name, one in answers.items()}}).assign(truth=true)

# %% [markdown]
# Where the same methods are given the hidden states of a *trained* network, some of them do answer: the network has
# put the entry there. [Baselines](../baselines.md) measures that level by level, [theory](../theory.md) has the
# proofs, and lists the sentences of the paper about similarity that do not hold as they are written.
