  // Squared standard error of each data set, for (M10) and (M20)
  vector[q] squared_error = within ./ ((n - 1) .* information);
