"""The network that is `nmt`'s default, as Joey NMT 2.3 builds it: GRU 2x256 / 512, Bahdanau attention, embeddings 256.

Its attention is as wide as the decoder's state (512, ours 256): Joey NMT has no setting for it. Random weights.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from joeynmt.model import Model, build_model
from joeynmt.vocabulary import Vocabulary

SPECIALS = SimpleNamespace(
    pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>", sep_token=None, lang_tags=[],
    unk_id=0, pad_id=1, bos_id=2, eos_id=3, sep_id=None,  # the order that its vocabulary gives them
)  # fmt: skip


def built(vocabulary_size: int, *, dropout: float) -> tuple[Model, Vocabulary]:
    torch.manual_seed(1)
    vocabulary = Vocabulary([f"▁{number}" for number in range(vocabulary_size - 4)], SPECIALS)
    side = {"type": "recurrent", "rnn_type": "gru", "num_layers": 1, "dropout": dropout}
    embeddings = {"embedding_dim": 256}
    decoder = {"attention": "bahdanau", "init_hidden": "bridge", "input_feeding": True, "hidden_dropout": dropout}
    network = {
        "tied_embeddings": True,
        "tied_softmax": False,
        "encoder": {**side, "embeddings": embeddings, "hidden_size": 256, "bidirectional": True},
        "decoder": {**side, **decoder, "embeddings": embeddings, "hidden_size": 512},
    }
    return build_model(network, vocabulary, vocabulary), vocabulary
