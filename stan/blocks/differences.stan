  // Unit of all differences: the mean within-data-set standard deviation
  int<lower=1> q; // data sets
  vector<lower=2>[q] n; // score differences of each data set
  vector[q] mean_difference; // xbar_i, right minus left
  vector<lower=0>[q] sum_of_squares; // sum_j (x_ij - xbar_i)^2
  vector<lower=0, upper=1>[q] rho; // correlation between two differences
