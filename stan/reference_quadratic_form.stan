/**
 * The hierarchical model as the 2017 paper computes it: from all the scores,
 * with the inverse of the correlation matrix and one matrix product for the
 * quadratic forms of all data sets. Every data set has the same number of
 * scores and the same rho, and all are centred. It stands here to check the
 * closed form of hierarchical_student_t.stan and to measure what it gains;
 * equations of docs/model.md.
 */
data {
  // Unit of all differences: the mean within-data-set standard deviation
  int<lower=1> q; // data sets
  int<lower=2> n; // score differences of each data set
  matrix[q, n] x; // score differences, right minus left
  real<lower=0, upper=1> rho; // correlation between two differences
  // Bounds of the uniform priors, in the unit of the differences
  real<lower=0> delta0_bound; // b of (M4)
  real<lower=0> sigma_upper; // 1000 s of (M3)
  real<lower=0> sigma0_upper; // 1000 s0 of (M5)
  real<lower=0> nu_lower; // 1 in the authors' program, 0 in the paper's text
  array[2] real<lower=0> alpha_limits; // of the shape, (M7)
  array[2] real<lower=0> beta_limits; // of the rate, (M7)
}
transformed data {
  matrix[n, n] M = add_diag(rep_matrix(rho, n, n), 1 - rho);
  matrix[n, n] inverse_M = inverse_spd(M);
  real log_determinant_M = log_determinant(M);
}
parameters {
  real<lower=-delta0_bound, upper=delta0_bound> delta0; // centre of the population
#include blocks/parameters.stan
  real<lower=nu_lower> nu; // degrees of freedom of the population
  real<lower=alpha_limits[1], upper=alpha_limits[2]> alpha; // (M7)
  real<lower=beta_limits[1], upper=beta_limits[2]> beta; // (M7)
  vector[q] delta; // mean difference of each data set
}
model {
  matrix[n, q] deviation = (x - rep_matrix(delta, n))';
  vector[q] quadratic_form = diagonal(quad_form(inverse_M, deviation));
  // (M3)-(M5) and (M7) are uniform between the declared bounds
  nu - nu_lower ~ gamma(alpha, beta); // (M6)
  delta ~ student_t(nu, delta0, sigma0); // (M2)
  target += -0.5
            * sum(2 * n * log(sigma) + log_determinant_M
                  + quadratic_form ./ square(sigma)); // (M1)
}
