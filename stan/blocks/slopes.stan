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
  // Location and scale of the slopes in units of slope_sd, given sigma and sigma0
  {
    vector[q] precision = inv(square(sigma0) + square(sigma) ./ information);
    matrix[p, p] known = to_matrix(products * precision, p, p);
    known = quad_form_diag(known, slope_sd); // precision without the prior's
    matrix[p, p] factor = cholesky_decompose(add_diag(known, 1)); // (C4)
    vector[q] weighted = precision .* (mean_difference - delta0);
    vector[p] location = mdivide_left_tri_low(factor,
                                              slope_sd
                                              .* (covariate' * weighted));
    slope = slope_sd
            .* mdivide_right_tri_low((location + slope_deviation)', factor)';
    slope_step = slope_sd ./ diagonal(factor);
  }
  centre = delta0 + covariate * slope;
