"""How much of the paper's protocol is done: all of it, a night, an hour, or just enough to run it.

Every scale keeps clients, classes, priors, batches, losses and update rules; it changes how long is trained
and on how many frames, and nothing else. Learning rates at the smaller scales are those that
`wavetell experiment rates` chose on validation frames, three for each method; `paper` has the paper's.
"""

from dataclasses import dataclass, replace

from streaming.errors import ConfigError
from training.heads.search import Search
from training.methods.base import Budget

RATES = (3e-4, 1e-3, 3e-3)  # what `rates` tries

PAPER_RATE = 1e-3

# Where it found more than its error (docs/results/hour/rates.md); others have the paper's or their own.
CHOSEN: dict[str, float] = {"fedah": 3e-3, "dae": 3e-3}


@dataclass(frozen=True)
class Scale:
    """One scale."""

    name: str
    about: str
    budget: Budget
    measured: tuple[int, int]  # rounds and epochs of supervised methods on MIGOU and DeepSig
    labels: float = 1.0  # share of the paper's labels
    unlabelled: float = 1.0  # share of the paper's unlabelled frames
    test: int = 5_000  # frames per client and seed
    validation: int = 500
    look: int = 1  # rounds between two looks at validation frames
    tuned: bool = True  # with the chosen learning rates
    recipe_share: float = 1.0  # of the steps of wavetell's recipe: as much time as the others have

    def budget_for(self, method: str, measured: bool) -> Budget:
        """The budget of a method on the synthetic set or on a measured one."""
        budget = self.budget
        if measured:
            budget = replace(budget, rounds=self.measured[0], epochs=self.measured[1])
        if method in ("wavetell", "wavetell-level"):
            return replace(budget, recipe_share=self.recipe_share)
        return replace(budget, rate=CHOSEN.get(method, budget.rate)) if self.tuned else budget


QUICK = Search(C=(1.0, 3.0, 10.0), gamma=(1.0,), folds=3)

SCALES = {
    "paper": Scale(
        "paper",
        "the paper's protocol in full: 1,000 rounds of one epoch for supervised methods (10 of 100 on "
        "measured sets), 10 rounds of 15,000 steps for self-supervised ones, 140,000 unlabelled frames",
        Budget(),
        measured=(10, 100),
        look=10,
        tuned=False,
    ),
    "night": Scale(
        "night",
        "60 rounds for supervised methods (10 of 6 epochs on measured sets), 10 rounds of 200 steps for "
        "self-supervised ones, all of the paper's frames",
        Budget(rounds=60, pretrain_steps=200, tune_epochs=30, search_labels=2_800),
        measured=(10, 6),
        look=3,
    ),
    "hour": Scale(
        "hour",
        "10 rounds for supervised methods, epochs cut at 44 batches, those of 2,800 labels (4 rounds of 2 "
        "epochs on measured sets), 10 rounds of 10 steps for self-supervised ones, 10 epochs for their "
        "classifiers, two fifths of wavetell's steps, a tenth of the unlabelled frames",
        Budget(
            rounds=10,
            batches=44,
            pretrain_steps=10,
            tune_epochs=10,
            search=QUICK,
            search_labels=1_400,
        ),
        measured=(4, 2),
        recipe_share=0.4,
        unlabelled=0.1,
        test=1_700,
        look=2,
    ),
    "smoke": Scale(
        "smoke",
        "one round or two of one step each on a hundredth of the labels: does it run, not how well",
        Budget(
            rounds=2,
            batches=1,
            batch=16,
            pretrain_rounds=1,
            pretrain_steps=1,
            pretrain_batch=4,
            tune_epochs=2,
            search=Search(C=(1.0,), gamma=(1.0,), folds=2),
            limit_frames=14,
        ),
        measured=(2, 1),
        recipe_share=0.002,
        labels=0.01,
        unlabelled=0.0005,
        test=14,
        validation=8,
        look=2,
    ),
}


def find_scale(name: str) -> Scale:
    """The scale of this name."""
    if name not in SCALES:
        raise ConfigError(f"there is no scale {name!r}; expected {', '.join(SCALES)}")
    return SCALES[name]
