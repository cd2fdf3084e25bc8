    vector[2] centre = population_centre(delta0_deviation, mean_difference,
                                         square(sigma0) + centre_variance,
                                         delta0_bound, delta0_mean,
                                         delta0_is_normal
                                         * inv_square(delta0_sd));
    vector[q - q_centred] weight = square(sigma0)
                                   ./ (square(sigma0) + squared_error);
    delta0 = centre[1];
    log_slope = centre[2];
    scale = sqrt(weight .* squared_error);
    // Still without the deviation: mean of delta_i given its error and sigma0
    delta[noncentred_index] = delta0
                              + weight
                                .* (mean_difference[noncentred_index]
                                    - delta0);
