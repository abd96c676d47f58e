"""The paper's theorems as exact checks, and encoder weights that compute a rule.

| module | what it settles |
| --- | --- |
| `similarity` | Theorems 1 and 2, the RBF corollary, nearest neighbours with every tie-break |
| `kernel_ridge` | Theorem 4, by the spectrum for all parameters and by solving the linear system |
| `kernel_machines` | what the paper claims without a theorem: support vector machines |
| `trees` | the tree lemma on every subcube; what bootstrapping does to it |
| `embedding` | the proposition on fixed-position embeddings and its corollary, on any encoder |
| `votes` | for any rule and pattern: which method is forced right, forced wrong or undetermined |
| `construction`, `composition` | Theorem 14 and the depth-T proposition as weights of the trained `Encoder` |
| `lemmas`, `verification`, `limits` | the construction's lemmas, its checks, its limits in floating point |
| `registry` | `prove_each()`: all of them, one verdict a statement |

Labels are ±1 and indexed by pattern; a *cube* has n coordinates, one a cell of the neighbourhood.
"""
