  real delta0; // centre of the population
  real log_slope; // of delta0 by its deviation, (M21)
  vector[q] delta; // mean difference of each data set
  vector[q] sigma; // sd of a difference
  vector[q - q_centred] scale; // sd of delta_i given sigma0, (M10)
  {
#include blocks/moments_given_errors.stan
  }
  delta[centred_index] = delta_centred;
