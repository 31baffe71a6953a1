// The functions of this file's CPU as a table; NAME is the variable, LABEL what users call it.
#define SIEVE_KERNEL_TABLE(NAME, LABEL, MULTIPLY, POOL)                                          \
  const Kernels NAME = {LABEL,      quantize,   MULTIPLY, multiply_float, POOL,         pool_float, \
                        layer_norm, attend,     recur,    dot,            add_scaled,   softmax,    \
                        chunk_maxima, sum_exp,  read_all};
