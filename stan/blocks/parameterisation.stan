  array[q] int<lower=0, upper=1> centred; // 1: delta_i itself is sampled
