  vector[q_centred] delta_centred; // delta_i of the centred data sets
  vector[q - q_centred] z; // of the others: deviation in units of its sd, (M10)
