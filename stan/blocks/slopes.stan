  vector[p] slope; // change of the centre per sd of a covariate
  vector[p] slope_sd; // of its prior
  vector[p] slope_step; // of the slopes per unit of their deviations, (C4)
  vector[q] centre; // of the population at each data set's covariates, (C1)
  if (shrunk) {
    vector[p] narrow = global_scale * global[1] * local;
    real wide = square(slope_scale) * slab[1];
    slope_sd = narrow .* sqrt(wide ./ (wide + square(narrow))); // (C3)
  } else {
    slope_sd = rep_vector(slope_scale, p); // (C2)
  }
  // Moments of the slopes, in units of slope_sd, given sigma and sigma0
  {
    vector[q] root_precision = inv_sqrt(square(sigma0)
                                        + square(sigma) ./ information);
    matrix[q, p] design = diag_pre_multiply(root_precision,
                                            diag_post_multiply(covariate,
                                                               slope_sd));
    matrix[p, p] factor = cholesky_decompose(add_diag(crossprod(design), 1));
    vector[p] location = mdivide_left_tri_low(factor,
                                              design'
                                              * (root_precision
                                                 .* (mean_difference - delta0)));
    slope = slope_sd
            .* mdivide_right_tri_low((location + slope_deviation)', factor)'; // (C4)
    slope_step = slope_sd ./ diagonal(factor);
  }
  centre = delta0 + covariate * slope;
