  // Without these, (M4) and (M5) are uniform between the declared bounds
  if (delta0_is_normal) {
    delta0 ~ normal(delta0_mean, delta0_sd); // (M17)
  }
  if (sigma0_is_half_normal) {
    sigma0 ~ normal(0, sigma0_scale); // (M18)
  }
  if (sigma0_is_half_t) {
    sigma0 ~ student_t(sigma0_nu, 0, sigma0_scale); // (M19)
  }
