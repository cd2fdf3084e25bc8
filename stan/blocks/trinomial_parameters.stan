  real<lower=-delta0_bound, upper=delta0_bound> delta0; // centre of the population
  real<lower=0, upper=sigma0_upper> sigma0; // scale of the population
  vector<lower=0, upper=1>[q] excess; // u_i of (T2)
