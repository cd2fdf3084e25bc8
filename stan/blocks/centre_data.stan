  vector<lower=0>[q] tail_variance; // t_i of (M20), of data sets far from the others
