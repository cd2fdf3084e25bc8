  int<lower=1> p; // covariates
  matrix[q, p] covariate; // mean 0 and sd 1 over the data sets
  real<lower=0> slope_scale; // sd of (C2), or of the slab of (C3)
  int<lower=0, upper=1> shrunk; // 1: regularised horseshoe (C3) instead of (C2)
  real<lower=0> global_scale; // of (C3)
