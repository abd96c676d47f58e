"""The native engine: both networks and their whole losses in C++, called through ctypes.

kernel.cpp, seq2seq.h, network.h, blocks.h, layers.h, gemm.h, vectors.h   the kernel, bottom up from the last
build.py     compiles it, once for each kind of processor (`python -m hardgap.nn.native.build`)
library.py   loads the build that this processor runs
engine.py    which engine computes here: native or eager
functions.py the kernel as functions that autograd knows: the encoder; seq2seq.py the encoder-decoder
"""
