  /**
   * Log density of all score differences of q data sets, from their
   * sufficient statistics; constants without parameters are left out.
   *
   * The n[i] differences of data set i are jointly normal with mean delta[i],
   * standard deviation sigma[i] and correlation rho[i] between any two
   * (M1): x_i ~ MVN(1 delta_i, sigma_i^2 M_i). The inverse and the determinant
   * of M are known, so (M8, M9)
   *
   *   (x - 1 delta)' M^-1 (x - 1 delta)
   *     = SS / (1 - rho) + n (xbar - delta)^2 / (1 + (n - 1) rho)
   *
   * and a data set costs the same whatever n is. Equal to the sum over i of
   * multi_normal_lpdf(x_i | 1 delta_i, sigma_i^2 M_i) up to
   * n_i / 2 log(2 pi) + 1/2 log det M_i.
   *
   * @param mean_difference xbar[i]
   * @param delta mean of the differences
   * @param sigma standard deviation of a difference
   * @param n number of differences
   * @param within SS[i] / (1 - rho[i]), SS the sum of squares about xbar
   * @param information n[i] / (1 + (n[i] - 1) rho[i]): the number of
   *   independent differences that n[i] correlated ones are worth
   */
  real intraclass_normal_lpdf(vector mean_difference, vector delta,
                              vector sigma, vector n, vector within,
                              vector information) {
    return -dot_product(n, log(sigma))
           - 0.5
             * sum((within + information .* square(mean_difference - delta))
                   ./ square(sigma));
  }
