  vector[p] slope_deviation; // of the slopes, about independent, (C4)
  vector<lower=0>[shrunk * p] local; // (C3)
  vector<lower=0>[shrunk] global; // in units of global_scale, (C3)
  vector<lower=0>[shrunk] slab; // squared, in units of slope_scale, (C3)
