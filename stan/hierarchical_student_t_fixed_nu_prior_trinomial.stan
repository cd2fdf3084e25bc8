/**
 * The trinomial likelihood of paired outcomes, right or wrong, with a
 * Student-t population whose degrees of
 * freedom have one Gamma prior with given shape and rate. Otherwise as
 * hierarchical_student_t_fixed_nu_prior.stan; equations of docs/model.md.
 */
functions {
#include functions/population_centre.stan
#include functions/trinomial.stan
}
data {
#include blocks/data.stan
#include blocks/centre_data.stan
#include blocks/trinomial_data.stan
  real<lower=0> nu_lower; // the Gamma is on nu - nu_lower
  real<lower=0> alpha; // shape
  real<lower=0> beta; // rate
}
transformed data {
#include blocks/transformed_data.stan
#include blocks/trinomial_transformed_data.stan
}
parameters {
#include blocks/trinomial_parameters.stan
  real<lower=nu_lower> nu; // degrees of freedom of the population
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
  nu - nu_lower ~ gamma(alpha, beta); // (M6)
  delta ~ student_t(nu, delta0, sigma0); // (M2)
  target += sum(log(scale)) + sum(log(cosh(z))); // Jacobian of (M10)
  excess ~ beta(excess_shapes[1], excess_shapes[2]); // (T2)
  target += trinomial_log_probability(counts, delta, excess); // (T1)
}
