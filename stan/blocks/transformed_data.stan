  vector[q] within = sum_of_squares ./ (1 - rho); // (M8), first term
  vector[q] information = n ./ (1 + (n - 1) .* rho); // second
  int q_centred = sum(centred);
  array[q_centred] int centred_index;
  array[q - q_centred] int noncentred_index;
  {
    int c = 0;
    int m = 0;
    for (i in 1 : q) {
      if (centred[i]) {
        c += 1;
        centred_index[c] = i;
      } else {
        m += 1;
        noncentred_index[m] = i;
      }
    }
  }
