  // Squared standard error of each data set, for (M10)
  vector[q] known_squared_error = within ./ ((n - 1) .* information);
