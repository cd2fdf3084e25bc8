# Values of R for the tests of the closed-form tests: tests/data/golden_numbers_of_r.json.
#
#     Rscript scripts/make_golden_numbers_of_r.R    (Debian: r-base-core, r-cran-poissonbinomial)
#
# R computes Student-t tails by its own incomplete beta function and the Poisson-binomial distribution by convolution, so
# no code is shared with NumPy, SciPy or hiercomp. Running it again with the same versions gives the same bytes.

suppressPackageStartupMessages(library(PoissonBinomial))

# JSON: a number has 17 digits, which are those of the double
number <- function(x) sprintf("%.17g", x)
array <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{", paste0('"', names(fields), '": ', unlist(fields), collapse = ", "), "}")
}
section <- function(name, entries) paste0('"', name, '": [\n', paste(unlist(entries), collapse = ",\n"), "\n]")
text <- function(x) paste0('"', x, '"')

set.seed(2015)
samples <- list(
  c(0.02, 0.05),
  c(0.02, 0.03, 0.01, 0.04, 0.02),
  round(rnorm(10, -0.01, 0.03), 4),
  round(rnorm(20, 0.2, 0.01), 4), # tails of about 1e-20
  round(rnorm(100, 0.005, 0.04), 4),
  round(rnorm(12, 1.3, 4), 2)
)

student_t <- lapply(c(1, 2, 3, 9, 29, 99, 999), function(df) {
  t <- c(1e-10, 1e-3, 0.1, 0.5, 1, 2.5, 10, 40, 1e3, 1e6)
  object(df = number(df), t = array(t), below = array(pt(-t, df)), above = array(pt(t, df, lower.tail = FALSE)))
})

# t.test knows no correlation: with rho its statistic is divided by what rho adds to the standard error of the mean
t_tests <- unlist(lapply(samples, function(x) {
  lapply(c(0, 0.1, 0.5), function(rho) {
    n <- length(x)
    plain <- t.test(x)
    corrected <- unname(plain$statistic) * sqrt((1 / n) / (1 / n + rho / (1 - rho)))
    object(
      x = array(x), rho = number(rho), statistic = number(corrected), less = number(pt(corrected, n - 1)),
      greater = number(pt(corrected, n - 1, lower.tail = FALSE)), two_sided = number(2 * pt(-abs(corrected), n - 1)),
      plain_two_sided = number(plain$p.value), plain_less = number(t.test(x, alternative = "less")$p.value),
      plain_greater = number(t.test(x, alternative = "greater")$p.value)
    )
  })
}))

# "Convolve" adds products one trial at a time; the default, by Fourier transforms, has no digits in the tails
poisson_binomial <- lapply(
  list(
    c(0.1, 0.2, 0.3), c(0, 1, 1, 0.25), c(1e-12, 1 - 2^-40, 0.5), round(runif(17), 6), round(rbeta(43, 0.2, 0.2), 6),
    round(rbeta(60, 1, 3), 6), rep(0.1, 54)
  ),
  function(p) {
    k <- 0:length(p)
    object(
      p = array(p), mass = array(dpbinom(k, p, method = "Convolve")),
      at_most = array(ppbinom(k, p, method = "Convolve")),
      more_than = array(ppbinom(k, p, method = "Convolve", lower.tail = FALSE))
    )
  }
)

signed_rank <- lapply(samples[c(3, 4, 6)], function(x) {
  found <- wilcox.test(x, exact = TRUE)
  object(x = array(x), statistic = number(found$statistic), two_sided = number(found$p.value))
})

friedman <- lapply(c(4, 6), function(algorithms) {
  scores <- matrix(round(runif(12 * algorithms), 1), ncol = algorithms) # one digit: ties
  found <- friedman.test(scores)
  object(
    scores = paste0("[", paste(apply(scores, 1, array), collapse = ", "), "]"), statistic = number(found$statistic),
    p = number(found$p.value)
  )
})

folder <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "..", "tests", "data")
target <- file.path(folder, "golden_numbers_of_r.json")
versions <- object(R = text(getRversion()), PoissonBinomial = text(packageVersion("PoissonBinomial")))
content <- c(
  paste0('"versions": ', versions), section("student_t", student_t), section("t_tests", t_tests),
  section("poisson_binomial", poisson_binomial), section("signed_rank", signed_rank), section("friedman", friedman)
)
writeLines(paste0("{\n", paste(content, collapse = ",\n"), "\n}"), target)
