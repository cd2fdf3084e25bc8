  vector[p] slope; // change of the centre per sd of a covariate
  vector[q] centre; // of the population at each data set's covariates, (C1)
  if (shrunk) {
    real narrow = global_scale * global[1];
    real wide = square(slope_scale) * slab[1];
    slope = narrow
            * sqrt(wide * square(local)
                   ./ (wide + square(narrow) * square(local)))
            .* slope_deviation; // (C3)
  } else {
    slope = slope_scale * slope_deviation; // (C2)
  }
  centre = delta0 + covariate * slope;
