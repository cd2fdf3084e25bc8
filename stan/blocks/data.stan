  // Unit of all differences: the mean within-data-set standard deviation
  int<lower=1> q; // data sets
  vector<lower=2>[q] n; // score differences of each data set
  vector[q] mean_difference; // xbar_i, right minus left
  vector<lower=0>[q] sum_of_squares; // sum_j (x_ij - xbar_i)^2
  vector<lower=0, upper=1>[q] rho; // correlation between two differences
  array[q] int<lower=0, upper=1> centred; // 1: delta_i itself is sampled
  // Bounds of the uniform priors, in the unit of the differences; with (M17) to
  // (M19) delta0 and sigma0 have no posterior mass worth mention beyond theirs
  real<lower=0> delta0_bound; // b of (M4)
  real<lower=0> sigma_upper; // 1000 s of (M3)
  real<lower=0> sigma0_upper; // 1000 s0 of (M5)
  // Other priors on delta0 and sigma0, in the same unit; 0: uniform
  int<lower=0, upper=1> delta0_is_normal; // (M17) instead of (M4)
  real delta0_mean;
  real<lower=0> delta0_sd;
  int<lower=0, upper=1> sigma0_is_half_normal; // (M18) instead of (M5)
  int<lower=0, upper=1> sigma0_is_half_t; // (M19) instead of (M5)
  real<lower=0> sigma0_scale; // of either
  real<lower=0> sigma0_nu; // degrees of freedom of (M19)
