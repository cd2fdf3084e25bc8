/**
 * The hierarchical model of Corani et al. (2017), Student-t population, with
 * the prior of their experiments on the degrees of freedom. (M1)-(M9) are the
 * equations of docs/model.md. The likelihood is in closed form, and each data
 * set is centred or not, as the data ask for.
 */
functions {
#include functions/population_centre.stan
#include functions/intraclass_normal.stan
}
data {
#include blocks/data.stan
#include blocks/centre_data.stan
  real<lower=0> nu_lower; // 1 in the authors' program, 0 in the paper's text
  array[2] real<lower=0> alpha_limits; // of the shape, (M7)
  array[2] real<lower=0> beta_limits; // of the rate, (M7)
}
transformed data {
#include blocks/transformed_data.stan
}
parameters {
  real delta0_deviation; // of delta0 from its location, (M21)
#include blocks/parameters.stan
  real<lower=nu_lower> nu; // degrees of freedom of the population
  real<lower=alpha_limits[1], upper=alpha_limits[2]> alpha; // (M7)
  real<lower=beta_limits[1], upper=beta_limits[2]> beta; // (M7)
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
  // (M3) and (M7) are uniform between the declared bounds
  nu - nu_lower ~ gamma(alpha, beta); // (M6)
  delta ~ student_t(nu, delta0, sigma0); // (M2)
  target += sum(log(scale)) + sum(log(cosh(z))); // Jacobian of (M10)
  mean_difference ~ intraclass_normal(delta, sigma, n, within, information); // (M1)
}
