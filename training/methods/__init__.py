"""Every method of the paper's tables, and what puts them into perspective, by name.

>>> METHODS["fedprox"]().title
'FedProx-CNN'
"""

from collections.abc import Callable

from training.methods.base import Method
from training.methods.cssl_amc import CsslFrozen, CsslTuned
from training.methods.cumulant_svm import CumulantLevelSvm, CumulantSvm
from training.methods.dae import Dae
from training.methods.fedah import FedAh
from training.methods.fedavg import FedAvg
from training.methods.feddyn import FedDyn
from training.methods.fedeamc import FedeAmc
from training.methods.fedprox import FedProx
from training.methods.fedrep import FedRep
from training.methods.fedssl_amc import FedSslAmc
from training.methods.likelihood_limit import LevelFreeLimit, LikelihoodLimit
from training.methods.pmsgd import Pmsgd
from training.methods.semiamc import SemiAmc
from training.methods.simcse import SimCse
from training.methods.untrained import Untrained
from training.methods.wavetell import Wavetell, WavetellLevel, ZeroSteps

METHODS: dict[str, Callable[[], Method]] = {
    "fedavg": FedAvg,
    "fedeamc": FedeAmc,
    "fedprox": FedProx,
    "feddyn": FedDyn,
    "pmsgd": Pmsgd,
    "fedah": FedAh,
    "fedrep": FedRep,
    "simcse": SimCse,
    "cssl-tuned": CsslTuned,
    "cssl-frozen": CsslFrozen,
    "semiamc": SemiAmc,
    "dae": Dae,
    "fedssl-amc": FedSslAmc,
    "wavetell": Wavetell,
    "wavetell-level": WavetellLevel,
    "zero-steps": ZeroSteps,
    "untrained": Untrained,
    "cumulants": CumulantSvm,
    "cumulants-level": CumulantLevelSvm,
    "limit": LikelihoodLimit,
    "limit-level-free": LevelFreeLimit,
}
