"""Options that several commands share, each declared once, in dataclasses that a command takes as a whole."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeAlias, get_type_hints

import typer
from rich.markup import escape

from hiercomp.cli.shared import EXIT_ERROR, complain, in_options, one_line
from hiercomp.cli.streams import be_quiet, say, say_json, tell, tell_written
from hiercomp.errors import ArgumentError, HiercompError, HiercompWarning, ResultFileError
from hiercomp.scores.table import PLACES
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.model.priors import Priors
    from hiercomp.rope import RopesLike

ToWrite: TypeAlias = "tuple[Path | None, Callable[[], object]]"  # a file, and what writes it
READING, MODEL, OUTPUT = "How the file is read", "Model and verdict", "Output"
DIRECTION = "Which scores are better"
HELD = {"report": "report", "json": "JSON", "save": "result"}  # what the files of options hold
ON_COMMAND_LINE = (  # arguments of importers that --option does not set
    *("path", "source", "scores", "format", "columns", "rho", "higher_is_better"),
    *("encoding", "separator", "decimal", "percent", "largest_bytes"),
)


def chosen_from(metavar: str, *words: str) -> dict[str, Any]:
    """How the help names the value of an option, and the words that the shell completes it to."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return {"metavar": metavar, "autocompletion": complete}


ScoresArgument = Annotated[
    Path,
    typer.Argument(
        help="Scores: a table (.csv, .parquet, .xlsx, ...), a result file from another tool, a folder, or - for "
        "standard input."
    ),
]
DirectionOption = Annotated[
    bool | None,
    typer.Option(
        "--higher-is-better/--lower-is-better",
        help="Whether the metric is a gain or a loss; by default as the file says, and higher if it says nothing.",
        show_default=False,
        rich_help_panel=DIRECTION,
    ),
]
RopeOption = Annotated[
    str | None,
    typer.Option(
        help="Half-width of the region of equivalence, such as 0.01 or 1%, or LOWER:UPPER; by default 0.01 for scores "
        "in [0, 1]. For metrics in different units, one for each data set: iris=0.01,wine=5, or the column that has them.",
        metavar="WIDTH",
        rich_help_panel=MODEL,
    ),
]
RhoOption = Annotated[
    float | None, typer.Option(help="Correlation between folds; by default 1/folds.", rich_help_panel=MODEL)
]
RhoOrRunsOption = Annotated[
    str | None,
    typer.Option(
        help="Correlation between folds; by default 1/folds. runs: 1/folds across runs, and within them as the "
        "scores show.",
        metavar="NUMBER|runs",
        rich_help_panel=MODEL,
    ),
]
DropUnpairedOption = Annotated[
    bool,
    typer.Option(
        "--drop-unpaired", help="Leave out folds that one algorithm lacks, with a warning.", rich_help_panel=MODEL
    ),
]
EngineOption = Annotated[
    str,
    typer.Option(
        help="auto, embedded, cmdstan or quadrature.",
        rich_help_panel=MODEL,
        **chosen_from("ENGINE", "auto", "embedded", "cmdstan", "quadrature"),
    ),
]
SeedOption = Annotated[int, typer.Option(help="Seed for all random draws.", rich_help_panel=MODEL)]
ReportOption = Annotated[
    Path | None,
    typer.Option(help="Also write a report: one HTML file with figures and tables.", rich_help_panel=OUTPUT),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing files.", rich_help_panel=OUTPUT)]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=be_quiet,
        help="Print only the result and errors: no notes, no progress, no names of written files.",
        rich_help_panel=OUTPUT,
    ),
]


def rho_given(text: str | None) -> float | Literal["runs"] | None:
    """The correlation that ``--rho`` names; None for the default."""
    if text is None or text == "runs":
        return text  # type: ignore[return-value]
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"--rho must be a number or runs, got {text!r}.") from None


@dataclass(frozen=True)
class TableOptions:
    """How a file of scores is read, without the folds of a run."""

    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            help="auto, tidy, wide, weka, mlr3, tidymodels, mlflow, lm_eval, lm_eval_samples, inspect, sklearn or another "
            "tool's.",
            rich_help_panel=READING,
            **chosen_from(
                "FORMAT",
                *(
                    "auto",
                    "tidy",
                    "wide",
                    "weka",
                    "mlr3",
                    "tidymodels",
                    "mlflow",
                    "lm_eval",
                    "lm_eval_samples",
                    "inspect",
                    "sklearn",
                ),
            ),
        ),
    ] = "auto"
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Which column is dataset, algorithm, run, fold, score or rho, such as score=auc; dataset==iris for one "
            "name in every row, fold=Fold{fold}.Rep{run}@id for parts of cells. May be repeated; columns of one role "
            "are joined.",
            metavar="ROLE=NAME",
            rich_help_panel=READING,
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Read only rows with this value, such as mode=aws; may be repeated.",
            metavar="COLUMN=VALUE",
            rich_help_panel=READING,
        ),
    ] = None
    measure: Annotated[
        str | None, typer.Option(help="Which measure, where a file has several.", rich_help_panel=READING)
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of the format, such as fraction=true or ratio=0.8; may be repeated.",
            metavar="NAME=VALUE",
            rich_help_panel=READING,
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of a text file; by default UTF-8.", rich_help_panel=READING)
    ] = None
    sep: Annotated[
        str | None,
        typer.Option("--sep", help="Separator of cells; detected by default.", rich_help_panel=READING),
    ] = None
    decimal: Annotated[str, typer.Option(help="Decimal sign.", rich_help_panel=READING)] = "."
    percent: Annotated[
        bool,
        typer.Option("--percent", help="Accept cells such as 91% and divide them by 100.", rich_help_panel=READING),
    ] = False
    largest_bytes: Annotated[
        int | None,
        typer.Option(
            help=(
                "Refuse a table with more bytes than this after decompression; by default 4,000,000,000, and 100 times the "
                "size of a packed file, or 64 MB."
            ),
            min=1,
            rich_help_panel=READING,
        ),
    ] = None

    @property
    def roles(self) -> dict[str, Any]:
        """What plays each role, from the ROLE=NAME of ``--column``; several names of a role are a list."""
        from hiercomp.scores.table import ROLES

        found: dict[str, list[str]] = {}
        for text in self.column or []:
            role, name = _pair("--column", "ROLE=NAME such as score=auc", text, empty=True)
            if role not in ROLES:
                raise ArgumentError(f"--column {text}: the roles are {', '.join(ROLES)}.")
            found.setdefault(role, []).append("" if name in ("''", '""') else name)
        return {role: names[0] if len(names) == 1 else names for role, names in found.items()}

    def arguments(self) -> dict[str, Any]:
        """Arguments of `hiercomp.read_scores`, including those of the format."""
        rows: dict[str, list[str]] = {}
        for text in self.where or []:
            name, value = _pair("--where", "COLUMN=VALUE such as mode=aws", text, empty=True)
            rows.setdefault(name, []).append(value)
        named = {"where": rows or None, "measure": self.measure, "folds": getattr(self, "folds", None)}
        given = self._of_the_format() | {name: value for name, value in named.items() if value is not None} | self.roles
        return {
            "format": self.file_format,
            "encoding": self.encoding,
            "separator": self.sep,
            "decimal": self.decimal,
            "percent": self.percent,
            "largest_bytes": self.largest_bytes,
            **given,
        }

    def given(self) -> dict[str, Any]:
        """The values of the options that were given, by their names on the command line."""
        values = {option: getattr(self, option.name) for option in fields(self)}
        return {
            "--format" if option.name == "file_format" else f"--{option.name.replace('_', '-')}": value
            for option, value in values.items()
            if value is not None and value != option.default
        }

    def pasted(self) -> list[str]:
        """These options as words of a command."""
        words = []
        for name, value in self.given().items():
            values = value if isinstance(value, list) else [value]
            words += [name] if value is True else [part for each in values for part in (name, str(each))]
        return words

    def read(
        self,
        path: Path,
        *,
        rho: float | str | None = None,
        groups: tuple[str, ...] | None = None,
        rope: object = None,
    ) -> pd.DataFrame:
        """Read the scores of a file; notes on how it was read go to standard error."""
        from hiercomp.files.read import read_scores
        from hiercomp.scores.ropes import rope_column

        arguments = self.arguments()
        if isinstance(rho, float):
            arguments.setdefault("rho", rho)
        if groups is not None:
            arguments |= {"rho": arguments.get("rho", 0.0)}
        kept = [name for name in (*(groups or ()), rope_column(rope)) if name not in (None, *PLACES)]
        arguments |= {"also": kept} if kept else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HiercompWarning)  # they are among the notes
            table = read_scores(path, **arguments)
        if table.attrs["format"] != "tidy":
            tell(f"{path} was read as {table.attrs['format']}")
        for text in table.attrs["notes"]:
            tell(one_line(in_options(text, text.note.arguments)))
        return table

    def _of_the_format(self) -> dict[str, Any]:
        """The NAME=VALUE pairs of ``--option``: numbers, true and false are converted; anything else is text."""
        found: dict[str, Any] = {}
        for text in self.option or []:
            name, value = _pair("--option", "NAME=VALUE such as folds=10", text)
            if name in ON_COMMAND_LINE:
                raise ArgumentError(f"--option {text}: use the command's own option for {name!r}. See --help.")
            try:
                found[name] = json.loads(value)
            except (ValueError, RecursionError):
                found[name] = value
        return found


@dataclass(frozen=True)
class ReadingOptions(TableOptions):
    """How a file of scores is read."""

    folds: Annotated[
        int | None,
        typer.Option(help="Folds of a run, where the table counts through all runs.", min=2, rich_help_panel=READING),
    ] = None


@dataclass(frozen=True)
class PairingOptions:
    """Which scores belong together, and what happens to those without a partner."""

    groups: Annotated[
        str | None,
        typer.Option(
            help="Column that says which scores belong together, such as a question or a passage; or two crossed ones, "
            "such as question,seed.",
            metavar="COLUMN[,COLUMN]",
            rich_help_panel=MODEL,
        ),
    ] = None
    drop_unpaired: DropUnpairedOption = False

    @property
    def group_columns(self) -> Any:
        """The column of groups, or the two of crossed groups."""
        return None if self.groups is None else tuple(name.strip() for name in self.groups.split(","))

    @property
    def missing(self) -> Literal["error", "drop"]:
        """How to treat folds that one algorithm lacks."""
        return "drop" if self.drop_unpaired else "error"


@dataclass(frozen=True)
class ModelOptions:
    """How to compare, and what a verdict needs."""

    rope: RopeOption = None
    rho: RhoOrRunsOption = None
    higher_is_better: DirectionOption = None
    transform: Annotated[
        str | None,
        typer.Option(
            help="log: compare ratios, for data sets in different units; a rope of 0.01 is then about 1%.",
            rich_help_panel=MODEL,
            **chosen_from("log", "log"),
        ),
    ] = None
    prior: Annotated[
        str,
        typer.Option(
            help="default, juarez_steel, kruschke or gaussian.",
            rich_help_panel=MODEL,
            **chosen_from("NAME", "default", "juarez_steel", "kruschke", "gaussian"),
        ),
    ] = "default"
    population: Annotated[
        str | None,
        typer.Option(
            help="student_t, the default; gaussian; or mixture, which may have several modes.",
            rich_help_panel=MODEL,
            **chosen_from("NAME", "student_t", "gaussian", "mixture"),
        ),
    ] = None
    alpha: Annotated[
        float, typer.Option(help="A verdict needs a probability above 1 - alpha.", rich_help_panel=MODEL)
    ] = 0.05
    seed: SeedOption = 0

    @property
    def interval(self) -> RopesLike | None:
        """The rope that ``--rope`` names; None for the default."""
        return rope_interval(self.rope)

    @property
    def correlation(self) -> float | Literal["runs"] | None:
        """The correlation that ``--rho`` names; None for the default."""
        return rho_given(self.rho)

    @property
    def ratio(self) -> Literal["log"] | None:
        """The transform that ``--transform`` names."""
        if self.transform not in (None, "log"):
            raise ArgumentError(f"--transform must be log, got {self.transform!r}.")
        return None if self.transform is None else "log"

    @property
    def priors(self) -> Priors:
        """The priors that ``--prior`` and ``--population`` name."""
        from hiercomp.model.priors import NAMED_PRIORS, POPULATIONS, chosen_priors

        if self.prior not in NAMED_PRIORS:
            raise ArgumentError(f"--prior must be one of {', '.join(NAMED_PRIORS)}, got {self.prior!r}.")
        if self.population not in (None, *POPULATIONS):
            raise ArgumentError(f"--population must be one of {', '.join(POPULATIONS)}, got {self.population!r}.")
        return chosen_priors(self.prior, self.population)


@dataclass(frozen=True)
class OutputOptions:
    """What a command writes in addition to its text."""

    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Also write the result as JSON; - prints it.", rich_help_panel=OUTPUT),
    ] = None
    force: ForceOption = False
    quiet: QuietOption = False

    @property
    def text_wanted(self) -> bool:
        """Whether standard output is free for text."""
        return str(self.json_file) != "-"

    def check(self, *read: Path | None, checkpoint: Path | None = None, **others: Path | None) -> None:
        """Refuse files that can't be written, and files that are read or named twice, before a long computation.

        Parameters
        ----------
        *read : path or None
            What the command reads: it is never written to, not even with ``--force``.
        checkpoint : path or None
            Both read and written.
        **others : path or None
            Files of the command's other options, by the options' names.
        """
        from hiercomp.outputs import check_ending, output_path

        named = {"json": None if str(self.json_file) == "-" else self.json_file, **others}
        files = {name: path for name, path in named.items() if path is not None}
        refuse_shared_files({"checkpoint": checkpoint} | files, read)
        for name, path in files.items():
            if name in HELD:
                check_ending(path, HELD[name])
            output_path(path, overwrite=self.force)

    def present(
        self,
        content: dict[str, Any],
        *results: Any,
        files: Sequence[ToWrite] = (),
        checkpoint: Path | None = None,
        errors: Iterable[HiercompError] = (),
        code: int = 0,
    ) -> NoReturn:
        """Print results, write the files, and end with an exit code.

        They are printed first, so no fault of a file can cost it. A file that can't be written costs no other file;
        the exit code is then 2.

        Parameters
        ----------
        content : dict
            For ``--json``; printed instead of the texts if that option is -.
        *results : object
            To be printed with an empty line between them, unless they are None.
        files : sequence of (path or None, callable)
            Files of the command's other options, and what writes each of them; it returns False if it wrote nothing.
        checkpoint : path or None
            Named among the written files.
        errors : iterable of HiercompError
            Why something else that was asked for is missing.
        code : int
            The exit code if everything is written.
        """
        failures = list(errors)
        written = [checkpoint]
        if self.json_file is not None:
            text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
            if self.text_wanted:
                files = (*files, (self.json_file, lambda: self._write_json(text)))
        with collected(failures):
            if self.text_wanted:
                first, *more = results
                say(first)
                for part in more:
                    if part is not None:
                        say(f"\n{part}")
            else:
                say_json(text)
        for path, write in files:
            if path is not None:
                with collected(failures):
                    if write() is not False:
                        written.append(path)
        tell_written(*written)
        for failure in failures:
            complain(failure)
        raise typer.Exit(EXIT_ERROR if failures else code)

    def _write_json(self, text: str) -> None:
        from hiercomp.outputs import written_whole

        assert self.json_file is not None
        with written_whole(self.json_file, overwrite=self.force) as stream:
            stream.write(text.encode())


@contextmanager
def collected(errors: list[HiercompError]) -> Iterator[None]:
    """Collect the error of an output that can't be written; what comes next goes on."""
    try:
        yield
    except ResultFileError as error:
        errors.append(error)


def refuse_shared_files(written: Mapping[str, Path | None], read: Iterable[Path | None]) -> None:
    """Refuse two options that write one file, and one that writes what is read, whatever names and links it has.

    Parameters
    ----------
    written : mapping from str to path or None
        By the names of options.
    read : iterable of path or None
        Files and folders; "-" is standard input.
    """
    from hiercomp.outputs import is_read, same_file

    seen: dict[str, Path] = {}
    for name, path in written.items():
        if path is None:
            continue
        if str(path) == "-":
            raise ArgumentError(f"--{name} needs the name of a file, such as {name}.html.")
        for other, place in seen.items():
            if same_file(path, place):
                raise ArgumentError(f"--{other} and --{name} both name {path}.")
        seen[name] = path
        if any(source is not None and is_read(path, source) for source in read):
            raise ArgumentError(
                f"--{name} names {shown(path)}, which is read; an output never replaces an input.",
                remedy="Choose another name.",
            )


def rope_interval(text: str | None) -> RopesLike | None:
    """The rope that ``--rope`` names, or those of the data sets, or their column; None for the default."""
    if text is None:
        return None
    from hiercomp.rope import meant_by, percentage  # with NumPy, which a command that only helps does not need
    from hiercomp.scores.ropes import rope_column

    if "=" in text:
        return _ropes(text)
    try:
        ends = [float(part) if (share := percentage(part)) is None else share for part in text.split(":")]
    except ValueError:
        ends = []
    if len(ends) == 1:
        return ends[0]
    if len(ends) == 2:
        return ends[0], ends[1]
    if ":" not in text and rope_column(text) is not None:
        return text
    raise ArgumentError(
        f"--rope must be a half-width such as 0.01 or 1%, or LOWER:UPPER such as -0.02:0.01, got {text!r}.{meant_by(text)}"
    )


def _ropes(text: str) -> dict[str, float]:
    """The rope of each data set, from NAME=WIDTH pairs with commas between them."""
    found: dict[str, float] = {}
    for pair in text.split(","):
        name, _, width = (part.strip() for part in pair.rpartition("="))
        number = rope_interval(width)
        if not name or name in found or not isinstance(number, float):
            raise ArgumentError(
                f"--rope needs NAME=WIDTH pairs such as iris=0.01,wine=5, each name once, got {shown(text)!r}.",
                remedy="For names with a comma, put the widths in a column of the table and pass its name.",
            )
        found[name] = number
    return found


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """A command for typer, with each group of options replaced by its options.

    Parameters
    ----------
    command : callable
        A parameter annotated with a dataclass, such as `ReadingOptions`, is a group: its fields are the options.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group  # type: ignore[assignment]
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name]
            )
            for option in fields(group)
        ]

    @functools.wraps(command)
    def expanded(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{option.name: values.pop(option.name) for option in fields(group)})
        command(**values)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded


def examples(*lines: str) -> str:
    """The foot of a command's help: what to type, one line each."""
    title = "Examples" if len(lines) > 1 else "Example"
    return "\n".join([f"[bold]{title}[/bold]", *(f"  {escape(line)}" for line in lines)])


def _pair(option: str, wanted: str, text: str, *, empty: bool = False) -> tuple[str, str]:
    """The two sides of an equals sign."""
    name, sign, value = text.partition("=")
    if not name or not sign or not (value or empty):
        raise ArgumentError(f"{option} must be {wanted}, got {text!r}.")
    return name, value
