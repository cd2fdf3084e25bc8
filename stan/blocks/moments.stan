  real delta0; // centre of the population
  real log_slope; // of delta0 by its deviation, (M21)
  vector[q] delta; // mean difference of each data set
  vector[q - q_centred] scale; // sd of delta_i given sigma_i and sigma0, (M10)
  {
    vector[q] squared_error = square(sigma) ./ information;
#include blocks/moments_given_errors.stan
  }
  delta[centred_index] = delta_centred;
