  vector[q] delta; // mean difference of each data set
  vector[q] sigma; // sd of a difference
  vector[q - q_centred] scale; // sd of delta_i given sigma0, (M10)
  {
    vector[q - q_centred] squared = squared_error[noncentred_index];
    vector[q - q_centred] weight = square(sigma0)
                                   ./ (square(sigma0) + squared);
    scale = sqrt(weight .* squared);
    delta[noncentred_index] = delta0
                              + weight
                                .* (mean_difference[noncentred_index]
                                    - delta0);
  }
  delta[centred_index] = delta_centred;
