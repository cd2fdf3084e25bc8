  // Variance of each mean about delta0 without sigma0^2, (M20): its squared
  // standard error, and more if it lies far from the others
  vector<lower=0>[q] centre_variance;
