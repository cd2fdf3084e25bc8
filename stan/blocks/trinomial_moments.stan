  real delta0; // centre of the population
  real log_slope; // log derivative of delta0 with respect to its deviation
  vector[q] delta; // mean difference of each data set
  vector[q] sigma; // sd of a difference
  vector[q - q_centred] scale; // sd of delta_i given sigma0, (M10)
  {
    vector[q - q_centred] squared_error = known_squared_error[noncentred_index];
#include blocks/conditional_moments.stan
  }
  delta[centred_index] = delta_centred;
