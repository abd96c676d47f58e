"""Opening the network (paper §4.4 and Appendix B): each analysis takes a network, a gap and rows.

| module | question |
| --- | --- |
| `polynomial` | which polynomial of the neighbourhood is the logit, and is it XOR? |
| `recovered` | which truth table does the network compute, and is it a local rule at all? |
| `consistency` | does a wrong table agree with everything visible, and how does the network live with it? |
| `ablation` | which layers, sublayers and heads does the answer need? |
| `lens`, `probes` | from which level on can the answer be read, and the neighbours? |
| `patching` | which activations carry a flipped neighbour to the answer? |
| `attention`, `neurons` | where do heads look, and what do hidden units stand for? |
| `over_time` | when does each of these signals appear in training? |

`opening.open_network` runs them all. A `Finding` is a frozen dataclass with `as_dict()`; nothing is drawn here.
`nn/hooks.py` reads and replaces named values, `contexts` writes patterns into rows, `cells` scores.
"""
