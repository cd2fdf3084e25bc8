/**
 * The hierarchical model with a Gaussian population, the limit of many degrees
 * of freedom: delta_i ~ N(delta0, sigma0). Otherwise as
 * hierarchical_student_t.stan; equations of docs/model.md.
 */
functions {
#include functions/population_centre.stan
#include functions/intraclass_normal.stan
}
data {
#include blocks/data.stan
#include blocks/centre_data.stan
}
transformed data {
#include blocks/transformed_data.stan
}
parameters {
  real delta0_deviation; // of delta0 from its location, (M21)
#include blocks/parameters.stan
  vector[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
}
transformed parameters {
#include blocks/moments.stan
  delta[noncentred_index] += scale .* z; // (M10)
}
model {
#include blocks/population_priors.stan
  target += log_slope; // Jacobian of (M21)
  // (M3) is uniform between the declared bounds
  delta ~ normal(delta0, sigma0); // (M2) as nu goes to infinity
  target += sum(log(scale)); // Jacobian of (M10)
  mean_difference ~ intraclass_normal(delta, sigma, n, within, information); // (M1)
}
