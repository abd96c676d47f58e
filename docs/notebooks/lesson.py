# %% [markdown]
# # Lesson: can a machine know what it was never told?
#
# The notebook of the [lesson](../lesson.md): 45 minutes, four parts, questions with answers to unfold. It needs
# nothing but Python without a GPU, and each cell takes seconds.
#
# ## 1. A rule (10 minutes)
#
# A row of lamps, each on or off. At every tick each lamp looks at itself and its two neighbours, and looks up in a
# table what it becomes. That table is all there is: eight neighbourhoods, eight answers.

# %%
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import hardgap as hg

rule = hg.Automaton(150, hide="010").gap.rule
rule

# %% [markdown]
# **Question 1.** Say the rule in one sentence, without the table.
#
# <details><summary>Answer</summary>
#
# A lamp is on at the next tick if an odd number of the three (itself, its left, its right neighbour) is on now. That
# is called *parity*.
#
# </details>
#
# **Question 2.** How many different tables could somebody have written?
#
# <details><summary>Answer</summary>
#
# Eight answers, two choices each: 2⁸ = 256. They have numbers; this one is 150. Read the outputs from `111` down to
# `000` as a binary number: 10010110 = 150.
#
# </details>
#
# ## 2. A gap (10 minutes)
#
# Now somebody rubs out one line of the table. A pupil sees rows of lamps and what became of them, but wherever the
# neighbourhood was `010`, the answer is covered (framed below).

# %%
gap = hg.Automaton(150, hide="010").gap
gap

# %% [markdown]
# **Question 3.** Guess the covered answer by similarity: which lines of the table are most like `010`, and what do
# they say?
#
# <details><summary>Answer</summary>
#
# Those that differ in one lamp: `000` → 0, `011` → 0 and `110` → 0. All say 0. The truth is 1. Lines that differ in
# two lamps say 1, but a method that trusts the similar more than the dissimilar cannot let them win: at best it is a
# tie
# ([What similarity must say](similarity.py) works it out).
#
# </details>
#
# **Question 4.** The answer is covered *everywhere*. Can it be known at all?
#
# <details><summary>Answer</summary>
#
# Yes. A covered lamp is a neighbour of others at the next tick, and their answers are not covered. Suppose 0 and work
# out the next tick: somewhere a visible lamp comes out wrong. So 0 is refuted, without ever looking under the cover.
#
# </details>
#
# Let us do that. Black is the truth, orange is what would be visible and wrong if the covered answer were 0:

# %%
row = np.random.default_rng(0).integers(0, 2, (1, 31), dtype=np.uint8)
truth, wrong = gap.trajectory(row, 4), gap.decoy().rule
from hardgap.worlds.automaton.rollout import rollout

guessed = rollout(wrong, row, 4)[:, 0]
seen = np.vstack([np.ones((1, 31), dtype=bool), ~truth.hidden[:, 0]])
refuted = seen & (guessed != truth.states[:, 0])
shades = np.array([[1.0, 1.0, 1.0], [0.17, 0.2, 0.25], [0.88, 0.51, 0.08]])
figure, axis = plt.subplots(figsize=(9, 1.8))
axis.imshow(shades[np.where(refuted, 2, truth.states[:, 0])])
axis.set_yticks(range(5), ["now", "1 tick", "2 ticks", "3 ticks", "4 ticks"])
axis.set_xticks([])
print(f"{refuted[1].sum()} lamps refute it after one tick, {refuted[2].sum()} after two")

# %% [markdown]
# **Question 5.** Why does nothing refute it after one tick?
#
# <details><summary>Answer</summary>
#
# After one tick only the covered lamps themselves could show it, and they are covered. One has to look two ticks
# ahead. That is the whole trick of what follows.
#
# </details>
#
# ## 3. A machine (15 minutes)
#
# Two small neural networks learn from the same rows. One predicts a single tick. The other predicts four ticks in a
# row and is fed its own predictions. Neither ever gets an answer for `010`. Before running the cell: vote. Which of
# them will get it right?

# %%
store = tempfile.mkdtemp()
one_tick = hg.train(
    hg.Automaton(150, hide="010", model="conv", unrolling__feedback="none", budget__steps=300), store, watch=False
)
four_ticks = hg.train(hg.Automaton(150, hide="010", model="conv"), store, watch=False)
one_tick

# %%
four_ticks

# %% [markdown]
# **Question 6.** Look at the curve of the four-tick network: what does it answer for the covered line in the beginning,
# and when does it change its mind?
#
# <details><summary>Answer</summary>
#
# In the beginning it is not undecided. As soon as it has learned the visible lines, it is at 0 %: it says what
# similarity says, and is sure of it. Then, within some tens of steps, it changes to 100 %.
#
# </details>
#
# **Question 7.** The one-tick network is right on everything that it was ever asked. Is it a bad network?
#
# <details><summary>Answer</summary>
#
# It has no way to know better: one tick ahead, a table with 0 and a table with 1 for `010` fit all that it was shown
# equally well. It is not worse at learning; it was given less evidence.
#
# </details>
#
# ## 4. What has it learned? (10 minutes)
#
# We ask the four-tick network for every line of the table, in many different rows:

# %%
four_ticks.open("rule")["rule"]

# %% [markdown]
# **Question 8.** Does it *know* the rule?
#
# <details><summary>Answer</summary>
#
# Opinions may differ, and that is the point of the last ten minutes. For: it answers a line that it was never told,
# and similarity could not have told it. Against: it is one network on one rule; others fail, and some learn a trick
# that fits what is visible without the right rule ([tempered](../tempered.md) calls it smuggling). A good answer says
# what one would have to measure: many networks, many rules, and how often.
#
# </details>
#
# **Question 9.** How do we know that nobody cheated, so that the covered answer did not slip in somewhere?
#
# <details><summary>Answer</summary>
#
# Train again in a world where the covered answer is the *opposite*. If the training never looked under the cover,
# everything must come out the same, bit by bit. The next cell does it.
#
# </details>

# %%
four_ticks.certify(steps=20).passed

# %% [markdown]
# ## Homework
#
# Take another rule, by its number, and another line to cover, and find one that the network does *not* get. Then ask
# whether it could have been known at all: `hardgap identify 30 --hide 3` answers that.
