/**
 * The hierarchical model with covariates of the data sets, on which the centre
 * of the Gaussian population depends. Otherwise as hierarchical_gaussian.stan;
 * equations of docs/model.md.
 */
functions {
#include functions/intraclass_normal.stan
}
data {
#include blocks/data.stan
#include blocks/covariates_data.stan
}
transformed data {
#include blocks/transformed_data.stan
#include blocks/covariates_transformed_data.stan
}
parameters {
  real<lower=-delta0_bound, upper=delta0_bound> delta0; // centre of the population
#include blocks/parameters.stan
  vector[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
#include blocks/covariates_parameters.stan
}
transformed parameters {
#include blocks/slopes.stan
#include blocks/moments_about_centres.stan
  delta[noncentred_index] += scale .* z; // (M10)
}
model {
#include blocks/population_priors.stan
#include blocks/slope_priors.stan
  // (M3) is uniform between the declared bounds
  delta ~ normal(centre, sigma0); // (C1) as nu goes to infinity
  target += sum(log(scale)); // Jacobian of (M10)
  mean_difference ~ intraclass_normal(delta, sigma, n, within, information); // (M1)
}
