  // Bounds of the uniform priors, in the unit of the differences
  real<lower=0> delta0_bound; // b of (M4)
  real<lower=0> sigma_upper; // 1000 s of (M3)
  real<lower=0> sigma0_upper; // 1000 s0 of (M5)
