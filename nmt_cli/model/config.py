"""Settings of the network. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, option_name, setting

Architecture = Literal["rnn", "transformer"]
Positions = Literal["sinusoidal", "learned"]


@dataclass(frozen=True, kw_only=True)
class AttentionKind:
    """What an attention has to do with the other settings."""

    feeds_recurrence: bool = False  # its context does, so that there is nothing more to feed
    compares_in_units: bool = False  # those of --attention-units
    compares_as_they_are: bool = False  # decoder state with encoder output: nothing between them could change a width
    has_heads: bool = False


ATTENTIONS = {  # in the order of `--help`; their classes are in `decoders.SYSTEMS`
    "none": AttentionKind(feeds_recurrence=True),
    "additive": AttentionKind(feeds_recurrence=True, compares_in_units=True),
    "dot": AttentionKind(compares_as_they_are=True),
    "general": AttentionKind(),
    "concat": AttentionKind(compares_in_units=True),
    "scaled-dot": AttentionKind(compares_in_units=True, has_heads=True),
}
if TYPE_CHECKING:
    Attention = str
else:
    Attention = Literal[tuple(ATTENTIONS)]


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Settings):
    """The shape of the network; the vocabulary sizes come from the corpus (`Vocabularies`).

    `layers` and `heads` may be None when it is made, and then become what suits the architecture (`FAMILIES`).
    """

    architecture: Architecture = setting(
        "rnn", "Kind of network: recurrent with attention, or the Transformer.", panel="Network"
    )
    attention: Attention = setting(
        "additive",
        "How the decoder looks back: none is the plain encoder-decoder, additive is Bahdanau's, "
        "dot, general and concat are Luong's, scaled-dot has learned projections.",
        panel="Network",
    )
    cell: Literal["gru", "lstm"] = setting("gru", "Kind of recurrent cell.", panel="Network")
    bidirectional: bool = setting(True, "Read the source in both directions.", panel="Network")
    embedding: int = setting(256, "Width of a token's embedding.", panel="Network", low=1)
    units: int = setting(512, "Width of the decoder's state.", panel="Network", low=2)
    encoder_units: int | None = setting(
        None, "Width of the encoder's output; each direction has half.  [default: --units]", panel="Network", low=2
    )
    layers: int = setting(
        None,
        "Layers in the encoder, and in the decoder.  [default: 1; transformer: 3]",
        panel="Network",
        low=1,
        high=16,
    )
    attention_units: int = setting(256, "Width of the attention's comparison.", panel="Network", low=1)
    heads: int = setting(
        None,
        "Heads of scaled-dot attention and of the transformer.  [default: 1; transformer: 4]",
        panel="Network",
        low=1,
        high=64,
    )
    input_feeding: bool = setting(
        False, "Feed what was read out into the next step (dot, general, concat, scaled-dot).", panel="Network"
    )
    attend_embeddings: bool = setting(
        False, "Let attention read the source's embeddings beside what the encoder makes of them.", panel="Network"
    )
    dropout: float = setting(
        0.1, "Share of embeddings and outputs dropped while training.", panel="Network", low=0, high=0.9
    )
    readout_units: int | None = setting(
        None, "Width of the dense layer before the output layer.  [default: --embedding]", panel="Network", low=1
    )
    readout_activation: Literal["tanh", "relu"] = setting("tanh", "What that layer applies.", panel="Network")
    feed_forward: int = setting(1024, "Inner width of the transformer's feed-forward networks.", panel="Network", low=1)
    positions: Positions = setting("sinusoidal", "How the transformer knows where a token stands.", panel="Network")
    max_positions: int = setting(
        512, "Positions that learned positions tell apart; later ones count as the last.", panel="Network", low=1
    )
    tied: bool = setting(True, "Use the target embeddings as the output layer's weights.", panel="Network")
    fixed_norm: bool = setting(
        False,
        "Let the output layer compare directions alone: what is read out and all its weights have one length.",
        panel="Network",
    )

    def __post_init__(self) -> None:
        family = FAMILIES.get(self.architecture, RECURRENT)  # one that does not exist is told by the base class
        for name, default in family.defaults.items():
            if getattr(self, name) is None:  # not given: from here on the architecture's own default
                object.__setattr__(self, name, default)
        super().__post_init__()
        self.reject_foreign()
        family.check(self)

    def to_mapping(self) -> dict[str, Any]:
        """The options that this architecture has, as plain values."""
        return {name: value for name, value in super().to_mapping().items() if name not in self.foreign}

    @property
    def foreign(self) -> dict[str, str]:
        """Names of the options that belong to other architectures, each with the architecture."""
        return {name: other for other, family in FAMILIES.items() if other != self.architecture for name in family.own}

    def reject_foreign(self) -> None:
        """Raises OptionError for an option of another architecture, unless it is as if it were not given."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in self.foreign and value != field.default:
                name = option_name(field)
                given = f"--no-{name}" if value is False else f"--{name}"
                raise OptionError(
                    f"{given} does not go with --architecture {self.architecture}",
                    hint=f"it is an option of --architecture {self.foreign[field.name]}",
                )

    def check_recurrent(self) -> None:
        self.check_encoder()
        self.check_memory()
        self.check_heads()
        if self.input_feeding and self.attention_kind.feeds_recurrence:
            raise OptionError(
                f"--input-feeding does not go with --attention {self.attention}",
                hint="its context feeds the recurrence already; take dot, general, concat or scaled-dot",
            )
        if self.tied and self.readout_width != self.embedding:
            raise OptionError(
                f"--readout-units is {self.readout_units}, but tied output weights are as wide as --embedding, "
                f"{self.embedding}",
                hint="add --no-tied, or give both the same width",
            )

    @property
    def attention_kind(self) -> AttentionKind:
        return ATTENTIONS[self.attention]

    @property
    def encoder_width(self) -> int:
        """Width of the encoder's states and output, of both directions together."""
        return self.units if self.encoder_units is None else self.encoder_units

    @property
    def memory_width(self) -> int:
        """Width of what attention reads at each position of a text."""
        return self.encoder_width + (self.embedding if self.attend_embeddings else 0)

    @property
    def readout_width(self) -> int:
        """Width of what the output layer sees."""
        return self.embedding if self.readout_units is None else self.readout_units

    def check_encoder(self) -> None:
        if self.bidirectional and self.encoder_width % 2:
            raise OptionError(
                f"{self.encoder_named}; an even number is needed, half for each direction",
                hint="take an even one, or --no-bidirectional",
            )
        if self.attention_kind.compares_as_they_are and self.encoder_width != self.units:
            raise OptionError(
                f"--attention {self.attention} needs equal widths, but {self.encoder_named} and --units {self.units}",
                hint="take --attention general, which has a matrix between them, or give both the same width",
            )

    def check_memory(self) -> None:
        if self.attend_embeddings and (self.attention == "none" or self.attention_kind.compares_as_they_are):
            raise OptionError(
                f"--attend-embeddings does not go with --attention {self.attention}",
                hint="it makes what is looked at wider: take general, concat, scaled-dot or additive",
            )

    @property
    def encoder_named(self) -> str:
        """The option that sets the encoder's width, and its value."""
        name = "--units" if self.encoder_units is None else "--encoder-units"
        return f"{name} is {self.encoder_width}"

    def check_heads(self) -> None:
        if self.heads > 1 and not self.attention_kind.has_heads:
            raise OptionError(
                f"--heads is {self.heads}, but only --attention scaled-dot has heads",
                hint="add --attention scaled-dot, or leave out --heads",
            )
        if self.attention_units % self.heads or self.memory_width % self.heads:
            raise OptionError(
                f"--heads is {self.heads}, which does not divide both --attention-units {self.attention_units} "
                f"and the width of what attention reads, {self.memory_width}",
                hint="the heads share these widths equally: take numbers that --heads divides",
            )

    def check_transformer(self) -> None:
        if self.embedding % self.heads:
            raise OptionError(
                f"--heads is {self.heads}, which does not divide --embedding {self.embedding}",
                hint="the heads share this width equally: take numbers of which one divides the other",
            )
        if self.positions == "sinusoidal" and self.embedding % 2:
            raise OptionError(
                f"--embedding is {self.embedding}; sinusoidal positions need an even number",
                hint="each sine has its cosine; an odd width goes with --positions learned",
            )


@dataclass(frozen=True)
class Family:
    """What an architecture has of its own: options, defaults of those it shares, and what must hold between them."""

    own: tuple[str, ...]
    defaults: Mapping[str, int]
    check: Callable[[ModelConfig], None]


RECURRENT = Family(
    own=(
        "attention",
        "cell",
        "bidirectional",
        "units",
        "encoder_units",
        "attention_units",
        "input_feeding",
        "attend_embeddings",
        "readout_units",
        "readout_activation",
    ),
    defaults={"layers": 1, "heads": 1},
    check=ModelConfig.check_recurrent,
)
TRANSFORMER = Family(
    own=("feed_forward", "positions", "max_positions"),
    defaults={"layers": 3, "heads": 4},
    check=ModelConfig.check_transformer,
)
FAMILIES = {"rnn": RECURRENT, "transformer": TRANSFORMER}


@dataclass(frozen=True, kw_only=True)
class Vocabularies(Settings):
    """How many subwords each side has, and whether they are the same: those of the target are the source's first."""

    source: int
    target: int
    joint: bool
    features: int | None = None  # depth of the regions, where the source is a picture; `source` is then 0
