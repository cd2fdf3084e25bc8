  array[q, 3] int<lower=0> counts; // of the differences -1, 0 and 1
  vector<lower=0>[2] excess_shapes; // of the Beta prior (T2)
