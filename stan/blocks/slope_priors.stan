  slope ~ normal(0, slope_sd); // (C2), (C3)
  target += sum(log(slope_step)); // Jacobian of (C4)
  if (shrunk) {
    local ~ student_t(1, 0, 1); // (C3)
    global ~ student_t(1, 0, 1); // (C3)
    slab ~ inv_gamma(2, 2); // (C3)
  }
