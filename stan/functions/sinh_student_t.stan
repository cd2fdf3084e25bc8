  /**
   * Log density of z when sinh(z) is Student-t(nu, 0, 1), summed over z.
   *
   * The non-centred form of a heavy-tailed population is
   * delta = delta0 + sigma0 sinh(z). A standard t has power tails, which
   * Hamiltonian trajectories explore slowly; those of z are exponential and
   * its density is log-concave for nu >= 1. The density is exact, with the
   * Jacobian cosh(z) of the transformation.
   *
   * @param z any real numbers
   * @param nu degrees of freedom
   */
  real sinh_student_t_lpdf(vector z, real nu) {
    return student_t_lpdf(sinh(z) | nu, 0, 1) + sum(log(cosh(z)));
  }
