/**
 * The hierarchical model with a Gaussian population, the limit of many degrees
 * of freedom: delta_i ~ N(delta0, sigma0). Otherwise as
 * hierarchical_student_t.stan; equations of docs/model.md.
 */
functions {
#include functions/intraclass_normal.stan
}
data {
#include blocks/differences.stan
#include blocks/parameterisation.stan
#include blocks/bounds.stan
}
transformed data {
#include blocks/sufficient_statistics.stan
#include blocks/parameterisation_index.stan
}
parameters {
#include blocks/scales.stan
#include blocks/data_set_means.stan
}
transformed parameters {
  vector[q] delta; // mean difference of each data set
#include blocks/conditional_moments.stan
  delta[centred_index] = delta_centred;
  delta[noncentred_index] += scale .* z; // (M10)
}
model {
  // (M3)-(M5) are uniform between the declared bounds
  delta ~ normal(delta0, sigma0); // (M2) as nu goes to infinity
  target += sum(log(scale)); // Jacobian of (M10)
  mean_difference ~ intraclass_normal(delta, sigma, n, within, information); // (M1)
}
