"""Networks as plain arrays, on numpy and JAX alike: the metric space's, the low-level policies', cloning's."""

from vmg.networks.cloning import clone
from vmg.networks.encoder import Encoder, embed, embed_alike, encode, metric_parts
from vmg.networks.lowlevel import LOW_LEVELS, Critic, Ensemble, Flow, LowLevel, Placer
from vmg.networks.lowlevel.translator import Translator, translate
from vmg.networks.models import load_weights
from vmg.networks.weights import Weights, save_weights

__all__ = [
    "LOW_LEVELS",
    "Critic",
    "Encoder",
    "Ensemble",
    "Flow",
    "LowLevel",
    "Placer",
    "Translator",
    "Weights",
    "clone",
    "embed",
    "embed_alike",
    "encode",
    "load_weights",
    "metric_parts",
    "save_weights",
    "translate",
]
