  vector[q] within = sum_of_squares ./ (1 - rho); // (M8), first term
  vector[q] information = n ./ (1 + (n - 1) .* rho); // second
