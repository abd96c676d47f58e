"""The native engine: the encoder and its whole unrolled loss in C++, called through ctypes.

kernel.cpp, network.h, layers.h, gemm.h, vectors.h   the kernel, bottom up from the last
build.py     compiles it, once for each kind of processor (`python -m hardgap.nn.native.build`)
library.py   loads the build that this processor runs
engine.py    which engine computes here: native or eager
functions.py the kernel as functions that autograd knows
"""
