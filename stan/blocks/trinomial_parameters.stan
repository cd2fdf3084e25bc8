  real delta0_deviation; // of delta0 from its location, (M21)
  real<lower=0, upper=sigma0_upper> sigma0; // scale of the population
  vector<lower=0, upper=1>[q] excess; // u_i of (T2)
