  matrix[p * p, q] products; // of any two covariates of a data set, for (C4)
  for (i in 1 : q) {
    products[ : , i] = to_vector(covariate[i]' * covariate[i]);
  }
