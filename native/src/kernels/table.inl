// The functions of this file's CPU as a table; NAME is the variable, LABEL what users call it.
#define SIEVE_KERNEL_TABLE(NAME, LABEL)                                                       \
  const Kernels NAME = {LABEL,      quantize, multiply_int8, multiply_float, pool_int8,       \
                        pool_float, layer_norm, attend,      recur,          dot,             \
                        add_scaled, softmax,  chunk_maxima,  sum_exp,        read_all};
