  /**
   * Centre of the population from its deviation, and the log of the derivative.
   *
   * Given sigma0, delta0 is about normal, with the location and the scale of
   * (M20). Where one mean is known far better than the others, this scale
   * falls with sigma0: a funnel. The deviation has none. (M21) maps it to
   * delta0, between the bounds, with the scale as its slope at 0.
   *
   * @param deviation of delta0 from its location, in units of its scale
   * @param mean xbar[i]
   * @param variance of xbar[i] about delta0
   * @param bound delta0 lies between -bound and bound
   * @param prior_mean of (M17)
   * @param prior_precision of (M17); 0: delta0 is uniform
   * @return delta0, and the log of its derivative with respect to the deviation
   */
  vector population_centre(real deviation, vector mean, vector variance,
                           real bound, real prior_mean, real prior_precision) {
    vector[num_elements(mean)] precision = inv(variance);
    real scale = inv_sqrt(sum(precision) + prior_precision
                          + 3 / square(bound)); // (M20)
    real found = square(scale)
                 * (dot_product(precision, mean)
                    + prior_precision * prior_mean); // (M20)
    // At least 1.5 scales within the bounds, (M21)
    real edge = bound / scale - 1.5;
    real location = found
                    + scale
                      * (log1p_exp(-found / scale - edge)
                         - log1p_exp(found / scale - edge));
    real slope = scale * bound / ((bound - location) * (bound + location));
    real place = atanh(location / bound) + slope * deviation;
    return [bound * tanh(place), log(bound * slope) - 2 * log(cosh(place))]'; // (M21)
  }
