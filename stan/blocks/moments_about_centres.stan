  vector[q] delta; // mean difference of each data set
  vector[q - q_centred] scale; // sd of delta_i given sigma_i and sigma0, (M10)
  // Still without the deviation: mean and sd of delta_i given sigma_i and sigma0
  {
    vector[q - q_centred] squared_error = square(sigma[noncentred_index])
                                          ./ information[noncentred_index];
    vector[q - q_centred] weight = square(sigma0)
                                   ./ (square(sigma0) + squared_error);
    scale = sqrt(weight .* squared_error);
    delta[noncentred_index] = centre[noncentred_index]
                              + weight
                                .* (mean_difference[noncentred_index]
                                    - centre[noncentred_index]);
  }
  delta[centred_index] = delta_centred;
