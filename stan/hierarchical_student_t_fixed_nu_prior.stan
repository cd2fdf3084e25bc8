/**
 * The hierarchical model with a Student-t population whose degrees of freedom
 * have one Gamma prior with given shape and rate: Gamma(2, 0.1) of Juarez and
 * Steel (2010), Gamma(1, 0.0345) of Kruschke (2013), or any other. Otherwise
 * as hierarchical_student_t.stan; equations of docs/model.md.
 */
functions {
#include functions/population_centre.stan
#include functions/intraclass_normal.stan
}
data {
#include blocks/data.stan
#include blocks/centre_data.stan
  real<lower=0> nu_lower; // the Gamma is on nu - nu_lower
  real<lower=0> alpha; // shape
  real<lower=0> beta; // rate
}
transformed data {
#include blocks/transformed_data.stan
}
parameters {
  real delta0_deviation; // of delta0 from its location, (M21)
#include blocks/parameters.stan
  real<lower=nu_lower> nu; // degrees of freedom of the population
  vector[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
}
transformed parameters {
#include blocks/moments.stan
  delta[noncentred_index] += scale .* sinh(z); // (M10)
}
model {
#include blocks/population_priors.stan
  target += log_slope; // Jacobian of (M21)
  // (M3) is uniform between the declared bounds
  nu - nu_lower ~ gamma(alpha, beta); // (M6)
  delta ~ student_t(nu, delta0, sigma0); // (M2)
  target += sum(log(scale)) + sum(log(cosh(z))); // Jacobian of (M10)
  mean_difference ~ intraclass_normal(delta, sigma, n, within, information); // (M1)
}
