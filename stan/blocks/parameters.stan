  real<lower=0, upper=sigma0_upper> sigma0; // scale of the population
  vector<lower=0, upper=sigma_upper>[q] sigma; // sd of a difference
