/**
 * The trinomial likelihood of paired outcomes, right or wrong, with a
 * Gaussian population. Otherwise as
 * hierarchical_gaussian.stan; equations of docs/model.md.
 */
functions {
#include functions/population_centre.stan
#include functions/trinomial.stan
}
data {
#include blocks/data.stan
#include blocks/centre_data.stan
#include blocks/trinomial_data.stan
}
transformed data {
#include blocks/transformed_data.stan
#include blocks/trinomial_transformed_data.stan
}
parameters {
#include blocks/trinomial_parameters.stan
  vector<lower=-1, upper=1>[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
}
transformed parameters {
#include blocks/trinomial_moments.stan
  delta[noncentred_index] += scale .* z; // (M10)
#include blocks/trinomial_sigma.stan
}
model {
#include blocks/population_priors.stan
  target += log_slope; // Jacobian of (M21)
  delta ~ normal(delta0, sigma0); // (M2) as nu goes to infinity
  target += sum(log(scale)); // Jacobian of (M10)
  excess ~ beta(excess_shapes[1], excess_shapes[2]); // (T2)
  target += trinomial_log_probability(counts, delta, excess); // (T1)
}
