  /**
   * Log probability of the paired outcomes of q data sets in their order (T1);
   * negative infinity where a |delta| is 1 or more.
   *
   * With the discordance d = |delta| + (1 - |delta|) u, the outcomes that delta
   * favours have probability |delta| + (1 - |delta|) u / 2, those against it
   * (1 - |delta|) u / 2, and ties (1 - |delta|) (1 - u).
   *
   * @param counts numbers of the differences -1, 0 and 1
   * @param delta mean of the differences
   * @param u share of what delta leaves on which the outcomes differ
   */
  real trinomial_log_probability(array[,] int counts, vector delta, vector u) {
    int q = num_elements(delta);
    vector[q] losses;
    vector[q] ties;
    vector[q] wins;
    vector[q] size;
    for (i in 1 : q) {
      losses[i] = delta[i] < 0 ? counts[i, 3] : counts[i, 1];
      ties[i] = counts[i, 2];
      wins[i] = delta[i] < 0 ? counts[i, 1] : counts[i, 3];
      size[i] = delta[i] < 0 ? -delta[i] : delta[i];
    }
    if (max(size) >= 1) {
      return negative_infinity();
    }
    {
      vector[q] rest = 1 - size;
      return dot_product(losses, log(rest .* u / 2))
             + dot_product(ties, log(rest) + log1m(u))
             + dot_product(wins, log(size + rest .* u / 2));
    }
  }
