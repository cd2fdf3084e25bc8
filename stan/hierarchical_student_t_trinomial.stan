/**
 * The trinomial likelihood of paired outcomes, right or wrong, with a
 * Student-t population and the prior of
 * Corani et al. (2017) on its degrees of freedom. Otherwise as
 * hierarchical_student_t.stan; equations of docs/model.md.
 */
functions {
#include functions/population_centre.stan
#include functions/trinomial.stan
}
data {
#include blocks/data.stan
#include blocks/centre_data.stan
#include blocks/trinomial_data.stan
  real<lower=0> nu_lower; // 1 in the authors' program, 0 in the paper's text
  array[2] real<lower=0> alpha_limits; // of the shape, (M7)
  array[2] real<lower=0> beta_limits; // of the rate, (M7)
}
transformed data {
#include blocks/transformed_data.stan
#include blocks/trinomial_transformed_data.stan
}
parameters {
#include blocks/trinomial_parameters.stan
  real<lower=nu_lower> nu; // degrees of freedom of the population
  real<lower=alpha_limits[1], upper=alpha_limits[2]> alpha; // (M7)
  real<lower=beta_limits[1], upper=beta_limits[2]> beta; // (M7)
  vector<lower=-1, upper=1>[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
}
transformed parameters {
#include blocks/trinomial_moments.stan
  delta[noncentred_index] += scale .* sinh(z); // (M10)
#include blocks/trinomial_sigma.stan
}
model {
#include blocks/population_priors.stan
  target += log_slope; // Jacobian of (M21)
  // (M7) is uniform between the declared bounds
  nu - nu_lower ~ gamma(alpha, beta); // (M6)
  delta ~ student_t(nu, delta0, sigma0); // (M2)
  target += sum(log(scale)) + sum(log(cosh(z))); // Jacobian of (M10)
  excess ~ beta(excess_shapes[1], excess_shapes[2]); // (T2)
  target += trinomial_log_probability(counts, delta, excess); // (T1)
}
