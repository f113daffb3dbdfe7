"""Every table and figure of the paper that compares methods: columns, methods, published numbers."""

from dataclasses import dataclass, field
from typing import Any, Literal

from training.datasets.augment import Level
from training.datasets.partition import PAPER_CLUSTERS
from training.experiments import published
from training.experiments.cases import Case
from training.experiments.cells import LIMITS
from training.experiments.published import Numbers
from training.methods import METHODS
from training.methods.precision import Precision

Figure = Literal["snr", "confusion"]
EVERY = tuple(METHODS)
CONTROLS = ("zero-steps", "untrained", "cumulants", "cumulants-level")
SEES_LEVEL = ("wavetell-level", "cumulants-level")
LEARNT = tuple(name for name in EVERY if name not in (*CONTROLS, *LIMITS))
NO_CSSL = tuple(name for name in EVERY if not name.startswith("cssl"))
BUDGETS = (2_800, 4_200, 7_000, 9_800, 14_000)
ALPHAS = (0.05, 0.1, 0.25, 0.375, 0.5, 0.625, 1.0)
RAW = (("level", "raw"),)
OWN_LEVEL = ("cumulants", "dae")  # divide frames by their RMS whatever the budget says
MIXED: tuple[Precision, ...] = ("float32", "float16", "int8", "int8")


@dataclass(frozen=True)
class Column:
    """One column: a case, and of its clients one or the mean of all."""

    title: str
    case: Case
    client: int | None = None
    changes: tuple[tuple[str, Any], ...] = ()  # to the budget


@dataclass(frozen=True)
class Table:
    """One table, with the figures that are drawn from the same cells."""

    name: str
    about: str
    columns: tuple[Column, ...]
    methods: tuple[str, ...] = EVERY
    figures: tuple[Figure, ...] = ()
    published: Numbers = field(default_factory=dict)


def thousands(labels: int) -> str:
    """2,800 as 2.8k."""
    return f"{labels / 1000:.1f}k labels"


SYNTHETIC = tuple(Column(thousands(labels), Case(labels=labels)) for labels in BUDGETS)
DEEPSIG = tuple(Column(f"alpha {alpha}", Case("deepsig", alpha=alpha)) for alpha in (0.1, 0.5))

TABLES = {
    table.name: table
    for table in (
        Table(
            "accuracy",
            "accuracy on the three sets (the paper's Table II)",
            (
                Column("synthetic", Case()),
                Column("MIGOU", Case("migou")),
                Column("DeepSig", Case("deepsig")),
            ),
            published=published.ACCURACY,
        ),
        Table(
            "limits",
            "what no classifier can beat, for every synthetic table, with the frames' level and without",
            (
                Column("synthetic", Case()),
                Column("16-QAM of +-1 and +-3", Case(unit_power=False)),
                *(
                    Column(f"client {i + 1}{more}", Case(heterogeneity="snr", unit_power=unit), i)
                    for more, unit in (("", True), (", loud 16-QAM", False))
                    for i in range(4)
                ),
                Column("carrier offsets", Case(heterogeneity="cfo")),
            ),
            tuple(LIMITS),
        ),
        Table(
            "labels",
            "accuracy against the number of labels per client, synthetic set",
            SYNTHETIC,
            published=published.LABELS,
        ),
        Table(
            "snr-clients",
            "clients with different SNRs, synthetic set, 14,000 labels; then with 16-QAM of +-1 and +-3, and "
            "with frames that keep their level",
            tuple(
                Column(
                    f"client {i + 1}{more}", Case(labels=14_000, heterogeneity="snr", unit_power=unit), i, raw
                )
                for more, unit, raw in (
                    ("", True, ()),
                    (", loud 16-QAM", False, ()),
                    (", raw level", True, RAW),
                    (", loud 16-QAM, raw level", False, RAW),
                )
                for i in range(4)
            ),
            NO_CSSL,  # its pairs need clear frames, which three of the clients do not have
            # The paper does not say which 16-QAM it has; some of its numbers exceed the limit of unit power.
            published={name: row * 4 for name, row in published.SNR_CLIENTS.items()},
        ),
        Table(
            "cfo",
            "clients with different carrier offsets, synthetic set, and accuracy against SNR",
            tuple(
                Column(thousands(labels), Case(labels=labels, heterogeneity="cfo"))
                for labels in (2_800, 14_000)
            ),
            figures=("snr",),
            published=published.CFO,
        ),
        Table(
            "precision",
            "clients that train in float32, float16, int8 and int8, and accuracy against SNR",
            (Column("14.0k labels", Case(labels=14_000, precision=MIXED)),),
            figures=("snr",),
        ),
        Table(
            "alpha",
            "MIGOU divided among four clients from Dirichlet(alpha)",
            tuple(Column(f"alpha {alpha}", Case("migou", alpha=alpha)) for alpha in ALPHAS),
            published=published.ALPHA,
        ),
        Table(
            "clusters",
            "MIGOU, 16 clients in five clusters, alpha 0.05",
            (Column("16 clients", Case("migou", unlabelled=14_000, alpha=0.05, clusters=PAPER_CLUSTERS)),),
            published=published.CLUSTERS,
        ),
        Table(
            "snr",
            "accuracy against SNR, synthetic set, 2,800 and 14,000 labels",
            (SYNTHETIC[0], SYNTHETIC[-1]),
            figures=("snr",),
        ),
        Table(
            "snr-deepsig",
            "accuracy against SNR on DeepSig, alpha 0.1 and 0.5",
            DEEPSIG,
            figures=("snr",),
        ),
        Table(
            "confusion",
            "confusion matrices with 14,000 labels, synthetic set",
            (SYNTHETIC[-1],),
            ("fedssl-amc", "simcse", "feddyn", "wavetell"),
            ("confusion",),
        ),
        Table(
            "variants",
            "what the sources leave open and might explain a difference, synthetic set, 2,800 labels",
            (
                Column("as in the tables", Case()),
                Column("raw level", Case(), changes=RAW),
                Column("16-QAM of +-1 and +-3", Case(unit_power=False)),
                Column("16-QAM of +-1 and +-3, raw level", Case(unit_power=False), changes=RAW),
                Column("averaged classifiers", Case(), changes=(("federated", True),)),
                Column("CSSL-AMC of two stages", Case(), changes=(("cssl_stages", 2),)),
                Column("SGD at 0.1", Case(), changes=(("optimiser", "sgd"), ("rate", 0.1))),
            ),
            (
                *("fedavg", "fedeamc", "feddyn", "fedrep", "simcse"),
                *("semiamc", "dae", "cssl-tuned", "cssl-frozen"),
                *("cumulants", "cumulants-level", *LIMITS),
            ),
        ),
    )
}


def level_of(method: str, column: Column) -> Level:
    """What a method sees of a column's frames, and which limit it therefore has."""
    if method in LIMITS:
        return LIMITS[method]
    return "raw" if method in SEES_LEVEL or (is_raw(column) and method not in OWN_LEVEL) else "rms"


def is_raw(column: Column) -> bool:
    """Whether the column's frames keep their level."""
    return dict(column.changes).get("level") == "raw"


def methods_of(table: Table, column: Column) -> tuple[str, ...]:
    """The methods that a column has.

    Limits are known for synthetic frames only, cumulants and DAE set their own level, few methods have
    classifiers that could be averaged, and few sources have another optimiser.
    """
    names = [name for name in table.methods if name not in LIMITS or not column.case.measured]
    if dict(column.changes).get("federated"):
        names = [name for name in names if name in ("semiamc", "dae", "cssl-tuned", "cssl-frozen")]
    if "cssl_stages" in dict(column.changes):
        names = [name for name in names if name.startswith("cssl")]
    if "optimiser" in dict(column.changes):
        names = [name for name in names if name in ("fedavg", "feddyn")]
    if is_raw(column):
        names = [name for name in names if name not in (*OWN_LEVEL, *SEES_LEVEL, "limit-level-free")]
    return tuple(names)
