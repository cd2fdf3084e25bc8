/**
 * The hierarchical model with covariates of the data sets, on which the centre
 * of the Student-t population depends. Otherwise as
 * hierarchical_student_t_fixed_nu_prior.stan; equations of docs/model.md.
 */
functions {
#include functions/intraclass_normal.stan
}
data {
#include blocks/data.stan
#include blocks/covariates_data.stan
  real<lower=0> nu_lower; // the Gamma is on nu - nu_lower
  real<lower=0> alpha; // shape
  real<lower=0> beta; // rate
}
transformed data {
#include blocks/transformed_data.stan
#include blocks/covariates_transformed_data.stan
}
parameters {
  real<lower=-delta0_bound, upper=delta0_bound> delta0; // centre of the population
#include blocks/parameters.stan
  real<lower=nu_lower> nu; // degrees of freedom of the population
  vector[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
#include blocks/covariates_parameters.stan
}
transformed parameters {
#include blocks/slopes.stan
#include blocks/moments_about_centres.stan
  delta[noncentred_index] += scale .* sinh(z); // (M10)
}
model {
#include blocks/population_priors.stan
#include blocks/slope_priors.stan
  // (M3) is uniform between the declared bounds
  nu - nu_lower ~ gamma(alpha, beta); // (M6)
  delta ~ student_t(nu, centre, sigma0); // (C1)
  target += sum(log(scale)) + sum(log(cosh(z))); // Jacobian of (M10)
  mean_difference ~ intraclass_normal(delta, sigma, n, within, information); // (M1)
}
