  slope_deviation ~ std_normal(); // (C2), (C3)
  if (shrunk) {
    local ~ student_t(1, 0, 1); // (C3)
    global ~ student_t(1, 0, 1); // (C3)
    slab ~ inv_gamma(2, 2); // (C3)
  }
