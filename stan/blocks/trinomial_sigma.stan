  for (i in 1 : q) {
    real size = delta[i] < 0 ? -delta[i] : delta[i];
    sigma[i] = sqrt(fmax(0, (1 - size) * (size + excess[i]))); // d - delta^2
  }
