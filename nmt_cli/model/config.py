"""The settings of the network, and a description of it in a few words. Standard library only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, check_value, name_option, setting

# The settings of the network. Standard library only: the command line builds options from them.


Architecture = Literal["rnn", "transformer"]
Positions = Literal["sinusoidal", "learned"]


@dataclass(frozen=True, kw_only=True)
class AttentionKind:
    """The demands that a kind of attention makes on other settings."""

    feeds_recurrence: bool = False  # its context does, so input feeding has nothing to add
    has_comparison_width: bool = False  # that of --attention-units
    needs_equal_widths: bool = False  # it compares decoder state and encoder output without a matrix between them
    has_heads: bool = False


ATTENTIONS = {  # in the order of `--help`; the classes are in `decoders.SYSTEMS`
    "none": AttentionKind(feeds_recurrence=True),
    "additive": AttentionKind(feeds_recurrence=True, has_comparison_width=True),
    "dot": AttentionKind(needs_equal_widths=True),
    "general": AttentionKind(),
    "concat": AttentionKind(has_comparison_width=True),
    "scaled-dot": AttentionKind(has_comparison_width=True, has_heads=True),
}
if TYPE_CHECKING:
    AttentionName = str
else:
    AttentionName = Literal[tuple(ATTENTIONS)]


class ModelConfig(Settings, ABC, panel="Network"):
    """The settings of the network's shape that all architectures share.

    The vocabulary sizes come from the corpus (`Vocabularies`). `from_options` builds the configuration of an
    architecture; `layers` and `heads` may be None in its arguments, for a default that suits the architecture.
    """

    DEFAULTS: ClassVar[Mapping[str, int]]  # of the options whose default depends on the architecture

    architecture: Architecture = setting("rnn", "Kind of network: recurrent with attention, or the Transformer.")
    embedding: int = setting(256, "Width of the token embeddings.  [default: by corpus size]", low=1)
    layers: int = setting(
        None, "Number of layers in the encoder, and in the decoder.  [default: 1; transformer: 3]", low=1, high=16
    )
    heads: int = setting(
        None,
        "Number of heads of scaled-dot attention and of the transformer.  [default: 8; with --attention: 1; "
        "transformer: 4]",
        low=1,
        high=64,
    )
    dropout: float = setting(
        0.1,
        "Share of embeddings and outputs that is dropped during training.  [default: by corpus size]",
        low=0,
        high=0.9,
    )
    tied: bool = setting(True, "Use the target embeddings as the weights of the output layer.", harmless=True)
    fixed_norm: bool = setting(
        False,
        "Normalise the readout and the weights of the output layer, so that only their directions count.  "
        "[default: on, unless --attention is set]",
        harmless=True,
    )

    def __post_init__(self) -> None:
        for name, default in self.DEFAULTS.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        super().__post_init__()
        self.check_widths()

    @classmethod
    def list_option_classes(cls) -> tuple[type[Settings], ...]:
        return (ModelConfig, *CONFIGS.values()) if cls is ModelConfig else (cls,)

    @classmethod
    def from_options(cls, **options: Any) -> ModelConfig:
        """Returns the configuration of the architecture that `options` name, by default `rnn`.

        Raises OptionError for an option of another architecture, unless it has its default value.
        """
        architecture = options.pop("architecture", "rnn")
        if architecture not in CONFIGS:
            check_value(ModelConfig.__dataclass_fields__["architecture"], Architecture, architecture)
        for other, config_class in CONFIGS.items():
            for foreign in config_class.list_own_fields() if other != architecture else ():
                value = options.pop(foreign.name, foreign.default)
                if value != foreign.default:
                    name = name_option(foreign)
                    flag = f"--no-{name}" if value is False else f"--{name}"
                    raise OptionError(
                        f"{flag} cannot be combined with --architecture {architecture}",
                        hint=f"{flag} applies only to --architecture {other}",
                    )
        return CONFIGS[architecture](**options)

    @classmethod
    def list_own_fields(cls) -> list[Field[Any]]:
        """Returns the fields of options that belong only to this architecture."""
        return [field for field in fields(cls) if field.name not in ModelConfig.__dataclass_fields__]

    @property
    @abstractmethod
    def memory_width(self) -> int:
        """Width of the memory that attention reads at each position of a text."""

    @property
    @abstractmethod
    def readout_width(self) -> int:
        """Width of the input to the output layer."""

    @abstractmethod
    def check_widths(self) -> None:
        """Raises OptionError for options that cannot be combined."""


class RnnConfig(ModelConfig, panel="Network"):
    """A recurrent encoder and decoder."""

    DEFAULTS: ClassVar[Mapping[str, int]] = {"layers": 1, "heads": 1}

    architecture: Architecture = field(default="rnn", init=False)
    attention: AttentionName = setting(
        "scaled-dot",
        "Kind of attention: none is the plain encoder-decoder; additive (or bahdanau) is Bahdanau's; "
        "dot, general (or luong) and concat are Luong's; scaled-dot has learned projections.",
    )
    cell: Literal["gru", "lstm"] = setting("gru", "Kind of recurrent cell.")
    bidirectional: bool = setting(True, "Read the source in both directions.", harmless=True)
    units: int = setting(512, "Width of the decoder state.  [default: by corpus size]", low=2)
    encoder_units: int | None = setting(
        None, "Width of the encoder output; each direction has half.  [default: --units]", low=2
    )
    attention_units: int = setting(256, "Width in which attention compares query and key.", low=1)
    input_feeding: bool = setting(
        False, "Feed the readout into the next step (dot, general, concat, scaled-dot).", harmless=True
    )
    attend_embeddings: bool = setting(
        False,
        "Append the source embeddings to the encoder output that attention reads.  [default: on, unless --attention is "
        "set]",
        harmless=True,
    )
    readout_units: int | None = setting(
        None, "Width of the dense layer before the output layer.  [default: --embedding]", low=1
    )
    readout_activation: Literal["tanh", "relu"] = setting(
        "tanh", "Activation of the dense layer before the output layer."
    )

    @property
    def attention_kind(self) -> AttentionKind:
        return ATTENTIONS[self.attention]

    @property
    def encoder_width(self) -> int:
        """Width of the states and of the output of the encoder, both directions together."""
        return self.units if self.encoder_units is None else self.encoder_units

    @property
    def memory_width(self) -> int:
        return self.encoder_width + (self.embedding if self.attend_embeddings else 0)

    @property
    def readout_width(self) -> int:
        return self.embedding if self.readout_units is None else self.readout_units

    def check_widths(self) -> None:
        self.check_encoder()
        self.check_memory()
        self.check_heads()
        self.check_readout()

    def check_encoder(self) -> None:
        if self.bidirectional and self.encoder_width % 2:
            raise OptionError(
                f"{self.encoder_option}, but a bidirectional encoder needs an even number: half for each direction",
                hint="use an even number, or --no-bidirectional",
            )
        if self.attention_kind.needs_equal_widths and self.encoder_width != self.units:
            raise OptionError(
                f"--attention {self.attention} needs equal widths, but {self.encoder_option} and --units {self.units}",
                hint="use --attention general, which has a matrix between them, or make the widths equal",
            )

    @property
    def encoder_option(self) -> str:
        """The option that sets the width of the encoder, and its value."""
        name = "--units" if self.encoder_units is None else "--encoder-units"
        return f"{name} is {self.encoder_width}"

    def check_memory(self) -> None:
        if self.attend_embeddings and (self.attention == "none" or self.attention_kind.needs_equal_widths):
            raise OptionError(
                f"--attend-embeddings cannot be combined with --attention {self.attention}",
                hint="the option needs an attention with its own weights: general, concat, scaled-dot or additive",
            )

    def check_heads(self) -> None:
        if self.heads > 1 and not self.attention_kind.has_heads:
            raise OptionError(
                f"--heads is {self.heads}, but only --attention scaled-dot has heads",
                hint="add --attention scaled-dot, or leave out --heads",
            )
        if self.attention_units % self.heads or self.memory_width % self.heads:
            raise OptionError(
                f"--heads is {self.heads}, which does not divide both --attention-units {self.attention_units} "
                f"and the width of the attention's input, {self.memory_width}",
                hint="the heads share these widths equally: use numbers that --heads divides",
            )

    def check_readout(self) -> None:
        if self.input_feeding and self.attention_kind.feeds_recurrence:
            raise OptionError(
                f"--input-feeding cannot be combined with --attention {self.attention}",
                hint="this attention already feeds in its context; use dot, general, concat or scaled-dot",
            )
        if self.tied and self.readout_width != self.embedding:
            raise OptionError(
                f"--readout-units is {self.readout_units}, but tied output weights are as wide as --embedding, "
                f"{self.embedding}",
                hint="add --no-tied, or make the widths equal",
            )


class TransformerConfig(ModelConfig, panel="Network"):
    """A Transformer."""

    DEFAULTS: ClassVar[Mapping[str, int]] = {"layers": 3, "heads": 4}

    architecture: Architecture = field(default="transformer", init=False)
    feed_forward: int = setting(1024, "Inner width of the transformer's feed-forward networks.", low=1)
    positions: Positions = setting("sinusoidal", "Kind of the transformer's position embeddings.")
    max_positions: int = setting(512, "Number of learned positions; all later ones share the last.", low=1)
    attention_dropout: float | None = setting(
        None,
        "Share of the transformer's attention weights that is dropped during training.  [default: as --dropout]",
        panel="Regularisation",
        low=0,
        high=0.9,
    )
    feed_forward_dropout: float | None = setting(
        None,
        "Share of the units inside the transformer's feed-forward networks that is dropped during training.  "
        "[default: as --dropout]",
        panel="Regularisation",
        low=0,
        high=0.9,
    )

    @property
    def memory_width(self) -> int:
        return self.embedding

    @property
    def readout_width(self) -> int:
        return self.embedding

    def check_widths(self) -> None:
        if self.embedding % self.heads:
            raise OptionError(
                f"--heads is {self.heads}, which does not divide --embedding {self.embedding}",
                hint="the heads share this width equally: use an --embedding that --heads divides",
            )
        if self.positions == "sinusoidal" and self.embedding % 2:
            raise OptionError(
                f"--embedding is {self.embedding}, but sinusoidal positions need an even number",
                hint="sines and cosines come in pairs; use an even width, or --positions learned",
            )


CONFIGS: dict[str, type[RnnConfig | TransformerConfig]] = {"rnn": RnnConfig, "transformer": TransformerConfig}


# The vocabularies of a network, which come from its corpus. Standard library only.


class Vocabularies(Settings):
    """The number of subwords of each side, and whether both share one vocabulary.

    The target may be limited to the first ids of a joint vocabulary.
    """

    source: int
    target: int
    joint: bool
    features: int | None = None  # depth of the regions, if the source is a picture; `source` is then 0


# A network in a few words. Standard library only, like the settings that it describes.


def describe_network(network: ModelConfig) -> str:
    """Returns the kind and the widths of a network in a few words."""
    fixed_norm = " · fixed norm" if network.fixed_norm else ""
    if isinstance(network, RnnConfig):
        return f"rnn · {describe_rnn(network)}{fixed_norm}"
    if isinstance(network, TransformerConfig):
        return f"transformer · {describe_transformer(network)}{fixed_norm}"
    return network.architecture


def describe_rnn(network: RnnConfig) -> str:
    attention = "no attention" if network.attention == "none" else f"{network.attention} attention"
    heads = f", {network.heads} heads" if network.heads > 1 else ""
    embeddings = ", attends embeddings" if network.attend_embeddings else ""
    width = network.encoder_width
    encoder = f"2x{width // 2}" if network.bidirectional else f"{width}"
    layers = f", {network.layers} layers" if network.layers > 1 else ""
    feeding = ", input feeding" if network.input_feeding else ""
    return f"{attention}{heads}{embeddings}{feeding} · {network.cell.upper()} {encoder} / {network.units}{layers}"


def describe_transformer(network: TransformerConfig) -> str:
    heads = "1 head" if network.heads == 1 else f"{network.heads} heads"
    layers = f"{network.layers} + {network.layers} layers"
    return f"{heads} · {layers}, width {network.embedding} / {network.feed_forward}"
