"""The public names and where they are defined; `lazy_loader` imports each when it is first used."""

from . import plots as plots
from .closed_form.across_datasets.bayesian_sign import (
    BayesianSignResult as BayesianSignResult,
)
from .closed_form.across_datasets.bayesian_sign import (
    bayesian_sign_test as bayesian_sign_test,
)
from .closed_form.across_datasets.bayesian_sign import (
    bayesian_signed_rank_test as bayesian_signed_rank_test,
)
from .closed_form.across_datasets.poisson_binomial import (
    PoissonBinomialResult as PoissonBinomialResult,
)
from .closed_form.across_datasets.poisson_binomial import (
    poisson_binomial_test as poisson_binomial_test,
)
from .closed_form.across_datasets.signed_rank import (
    SignedRankResult as SignedRankResult,
)
from .closed_form.across_datasets.signed_rank import (
    sign_test as sign_test,
)
from .closed_form.across_datasets.signed_rank import (
    signed_rank_test as signed_rank_test,
)
from .closed_form.apply import (
    AppliedTest as AppliedTest,
)
from .closed_form.apply import (
    AppliedTests as AppliedTests,
)
from .closed_form.apply import (
    apply_tests as apply_tests,
)
from .closed_form.many_algorithms.friedman import (
    FriedmanResult as FriedmanResult,
)
from .closed_form.many_algorithms.friedman import (
    PostHocResult as PostHocResult,
)
from .closed_form.many_algorithms.friedman import (
    friedman_test as friedman_test,
)
from .closed_form.many_algorithms.friedman import (
    nemenyi_test as nemenyi_test,
)
from .closed_form.many_algorithms.posthoc import (
    posthoc_test as posthoc_test,
)
from .closed_form.one_dataset.calibrated import (
    Calibration as Calibration,
)
from .closed_form.one_dataset.calibrated import (
    calibrate as calibrate,
)
from .closed_form.one_dataset.calibrated import (
    calibrated_test as calibrated_test,
)
from .closed_form.one_dataset.correlated_t import (
    CorrelatedTResult as CorrelatedTResult,
)
from .closed_form.one_dataset.correlated_t import (
    NormalGamma as NormalGamma,
)
from .closed_form.one_dataset.correlated_t import (
    correlated_t_test as correlated_t_test,
)
from .closed_form.one_dataset.five_by_two import (
    five_by_two_cv_f as five_by_two_cv_f,
)
from .closed_form.one_dataset.five_by_two import (
    five_by_two_cv_t as five_by_two_cv_t,
)
from .closed_form.one_dataset.frequentist import (
    corrected_t_test as corrected_t_test,
)
from .closed_form.one_dataset.frequentist import (
    mann_whitney as mann_whitney,
)
from .closed_form.one_dataset.frequentist import (
    paired_t_test as paired_t_test,
)
from .closed_form.one_dataset.frequentist import (
    welch_t_test as welch_t_test,
)
from .closed_form.one_dataset.mcnemar import (
    mcnemar as mcnemar,
)
from .closed_form.one_dataset.replicability import (
    Replicability as Replicability,
)
from .closed_form.one_dataset.replicability import (
    replicability as replicability,
)
from .closed_form.result import (
    FrequentistResult as FrequentistResult,
)
from .closed_form.side_by_side import (
    ClosedFormTests as ClosedFormTests,
)
from .closed_form.simulated_differences import (
    equal_correlation_differences as equal_correlation_differences,
)
from .closed_form.simulated_differences import (
    naive_bayes_predictions as naive_bayes_predictions,
)
from .closed_form.simulated_differences import (
    network_differences as network_differences,
)
from .closed_form.simulated_differences import (
    random_attributes_differences as random_attributes_differences,
)
from .closed_form.simulated_differences import (
    two_features_differences as two_features_differences,
)
from .closed_form.simulated_differences import (
    unequal_uncertainty_design as unequal_uncertainty_design,
)
from .closed_form.simulated_differences import (
    unequal_uncertainty_differences as unequal_uncertainty_differences,
)
from .comparison import (
    ComparisonResult as ComparisonResult,
)
from .comparison import (
    HierarchicalComparison as HierarchicalComparison,
)
from .comparison import (
    compare as compare,
)
from .comparison import (
    compare_populations as compare_populations,
)
from .comparison import (
    load_result as load_result,
)
from .crossval.experiment_file import (
    Experiment as Experiment,
)
from .crossval.experiment_file import (
    read_experiment as read_experiment,
)
from .crossval.run import (
    cross_validate_all as cross_validate_all,
)
from .errors import (
    ArgumentError as ArgumentError,
)
from .errors import (
    ConvergenceWarning as ConvergenceWarning,
)
from .errors import (
    DefaultedRhoWarning as DefaultedRhoWarning,
)
from .errors import (
    DegenerateScoresWarning as DegenerateScoresWarning,
)
from .errors import (
    DoubtfulDrawsWarning as DoubtfulDrawsWarning,
)
from .errors import (
    DroppedScoresWarning as DroppedScoresWarning,
)
from .errors import (
    EngineError as EngineError,
)
from .errors import (
    EstimatorWarning as EstimatorWarning,
)
from .errors import (
    FailedCellsWarning as FailedCellsWarning,
)
from .errors import (
    FewDatasetsWarning as FewDatasetsWarning,
)
from .errors import (
    HiercompError as HiercompError,
)
from .errors import (
    HiercompWarning as HiercompWarning,
)
from .errors import (
    IntegrationWarning as IntegrationWarning,
)
from .errors import (
    LargeProblemWarning as LargeProblemWarning,
)
from .errors import (
    NoVerdictError as NoVerdictError,
)
from .errors import (
    RefitWarning as RefitWarning,
)
from .errors import (
    ResultFileError as ResultFileError,
)
from .errors import (
    ScaleWarning as ScaleWarning,
)
from .errors import (
    ScoreFileError as ScoreFileError,
)
from .errors import (
    ScoreTableError as ScoreTableError,
)
from .files.check import (
    TableCheck as TableCheck,
)
from .files.check import (
    check_scores as check_scores,
)
from .files.formats.arrays import (
    from_score_arrays as from_score_arrays,
)
from .files.formats.inspect_logs import (
    read_inspect as read_inspect,
)
from .files.formats.lm_eval import (
    read_lm_eval as read_lm_eval,
)
from .files.formats.lm_eval_samples import (
    read_lm_eval_samples as read_lm_eval_samples,
)
from .files.formats.mlflow import (
    read_mlflow as read_mlflow,
)
from .files.formats.mlr3 import (
    read_mlr3 as read_mlr3,
)
from .files.formats.sklearn_results import (
    from_cross_validate as from_cross_validate,
)
from .files.formats.sklearn_results import (
    from_grid_search as from_grid_search,
)
from .files.formats.tidymodels import (
    read_tidymodels as read_tidymodels,
)
from .files.formats.weka import (
    read_weka as read_weka,
)
from .files.formats.wide import (
    from_wide as from_wide,
)
from .files.read import (
    read_scores as read_scores,
)
from .files.source import (
    Source as Source,
)
from .files.write import (
    write_scores as write_scores,
)
from .model.distributions import (
    HalfNormal as HalfNormal,
)
from .model.distributions import (
    HalfStudentT as HalfStudentT,
)
from .model.distributions import (
    Normal as Normal,
)
from .model.priors import (
    Priors as Priors,
)
from .pairs.fits import (
    FailedPair as FailedPair,
)
from .pairs.ranking import (
    Standings as Standings,
)
from .pairs.ranking import (
    expected_ranks as expected_ranks,
)
from .planning.plan import (
    plan as plan,
)
from .planning.result import (
    PlanResult as PlanResult,
)
from .posterior.correlation import (
    CorrelationCheck as CorrelationCheck,
)
from .posterior.correlation import (
    RepetitionGain as RepetitionGain,
)
from .posterior.diagnostics import (
    ExactDiagnostics as ExactDiagnostics,
)
from .posterior.diagnostics import (
    IntegrationDiagnostics as IntegrationDiagnostics,
)
from .posterior.diagnostics import (
    MixtureDiagnostics as MixtureDiagnostics,
)
from .posterior.diagnostics import (
    SamplerDiagnostics as SamplerDiagnostics,
)
from .posterior.effects import (
    Effects as Effects,
)
from .posterior.effects import (
    Prediction as Prediction,
)
from .posterior.influence import (
    Influence as Influence,
)
from .posterior.kinds import (
    Attempt as Attempt,
)
from .posterior.kinds import (
    Exact as Exact,
)
from .posterior.kinds import (
    Integrated as Integrated,
)
from .posterior.kinds import (
    Sampled as Sampled,
)
from .posterior.leave_one_out import (
    LeaveOneOut as LeaveOneOut,
)
from .posterior.mixed import (
    Mixed as Mixed,
)
from .posterior.mixed import (
    MixtureRun as MixtureRun,
)
from .posterior.next_dataset import (
    Decision as Decision,
)
from .posterior.next_dataset import (
    NextDataset as NextDataset,
)
from .posterior.next_dataset import (
    Odds as Odds,
)
from .posterior.population_check import (
    PopulationCheck as PopulationCheck,
)
from .posterior.populations import (
    PopulationComparison as PopulationComparison,
)
from .posterior.prior_predictive import (
    PriorPredictive as PriorPredictive,
)
from .posterior.regressed import (
    Regressed as Regressed,
)
from .posterior.sensitivity import (
    Sensitivity as Sensitivity,
)
from .posterior.sensitivity import (
    VariantResult as VariantResult,
)
from .report.methods import (
    Methods as Methods,
)
from .report.references import (
    Reference as Reference,
)
from .rope import (
    Rope as Rope,
)
from .scores.bundled import (
    load_covariates as load_covariates,
)
from .scores.bundled import (
    load_scores as load_scores,
)
from .scores.covariates import (
    Covariates as Covariates,
)
from .scores.differences import (
    PairedDifferences as PairedDifferences,
)
from .scores.moments import (
    ScoreMoments as ScoreMoments,
)
from .scores.problems import (
    TableProblem as TableProblem,
)
from .scores.rho import (
    Correlation as Correlation,
)
from .summary.comparison import (
    Summary as Summary,
)
from .summary.scores_table import (
    ScoresTable as ScoresTable,
)
from .summary.tournament import (
    TournamentSummary as TournamentSummary,
)
from .tournament import (
    TournamentResult as TournamentResult,
)
from .tournament import (
    compare_all as compare_all,
)

__version__: str
from .posterior.diagnostics import (
    VerifiedDiagnostics as VerifiedDiagnostics,
)
from .posterior.kinds import (
    Verified as Verified,
)
from .posterior.verification import (
    Verification as Verification,
)
from .posterior.verification import (
    VerifiedQuantity as VerifiedQuantity,
)
from .versions import (
    show_versions as show_versions,
)

__all__ = [
    "ArgumentError",
    "Attempt",
    "BayesianSignResult",
    "Calibration",
    "ClosedFormTests",
    "ComparisonResult",
    "ConvergenceWarning",
    "CorrelatedTResult",
    "Covariates",
    "Decision",
    "DefaultedRhoWarning",
    "DegenerateScoresWarning",
    "DoubtfulDrawsWarning",
    "DroppedScoresWarning",
    "Effects",
    "EngineError",
    "EstimatorWarning",
    "Exact",
    "ExactDiagnostics",
    "Experiment",
    "FailedCellsWarning",
    "FailedPair",
    "FewDatasetsWarning",
    "FrequentistResult",
    "FriedmanResult",
    "HalfNormal",
    "HalfStudentT",
    "HierarchicalComparison",
    "HiercompError",
    "HiercompWarning",
    "Influence",
    "Integrated",
    "IntegrationDiagnostics",
    "IntegrationWarning",
    "LargeProblemWarning",
    "Mixed",
    "MixtureDiagnostics",
    "MixtureRun",
    "NextDataset",
    "NoVerdictError",
    "Normal",
    "NormalGamma",
    "Odds",
    "PairedDifferences",
    "PlanResult",
    "PoissonBinomialResult",
    "PopulationComparison",
    "PostHocResult",
    "Prediction",
    "Priors",
    "RefitWarning",
    "Regressed",
    "Replicability",
    "ResultFileError",
    "Rope",
    "Sampled",
    "SamplerDiagnostics",
    "ScaleWarning",
    "ScoreFileError",
    "ScoreTableError",
    "Sensitivity",
    "SignedRankResult",
    "Source",
    "Standings",
    "Summary",
    "TableCheck",
    "TableProblem",
    "TournamentResult",
    "TournamentSummary",
    "VariantResult",
    "Verification",
    "Verified",
    "VerifiedDiagnostics",
    "VerifiedQuantity",
    "bayesian_sign_test",
    "bayesian_signed_rank_test",
    "calibrate",
    "calibrated_test",
    "check_scores",
    "compare",
    "compare_all",
    "compare_populations",
    "corrected_t_test",
    "correlated_t_test",
    "cross_validate_all",
    "equal_correlation_differences",
    "expected_ranks",
    "five_by_two_cv_f",
    "five_by_two_cv_t",
    "friedman_test",
    "from_cross_validate",
    "from_grid_search",
    "from_score_arrays",
    "from_wide",
    "load_covariates",
    "load_result",
    "load_scores",
    "mann_whitney",
    "mcnemar",
    "naive_bayes_predictions",
    "nemenyi_test",
    "network_differences",
    "paired_t_test",
    "plan",
    "plots",
    "poisson_binomial_test",
    "posthoc_test",
    "random_attributes_differences",
    "read_experiment",
    "read_inspect",
    "read_lm_eval",
    "read_lm_eval_samples",
    "read_mlflow",
    "read_mlr3",
    "read_scores",
    "read_tidymodels",
    "read_weka",
    "replicability",
    "show_versions",
    "sign_test",
    "signed_rank_test",
    "two_features_differences",
    "unequal_uncertainty_design",
    "unequal_uncertainty_differences",
    "welch_t_test",
    "write_scores",
]
