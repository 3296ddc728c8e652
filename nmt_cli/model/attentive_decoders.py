"""The recurrent decoders with attention, Bahdanau's and Luong's, and the attention of each name.

Letters: T target positions, N rows, E embedding width, U units, M width of the context, R width of the readout.
"""

from __future__ import annotations

from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.attention import (
    AdditiveAttention,
    Attention,
    DecoderState,
    DotAttention,
    GeneralAttention,
    NoAttention,
    ScaledDotAttention,
)
from nmt_cli.model.cells import project_inputs, select_gates, split_biases
from nmt_cli.model.config import RnnConfig
from nmt_cli.model.decoders import DecoderStep, RecurrentDecoder
from nmt_cli.model.encoders import EncoderOutput
from nmt_cli.model.fast.recurrence import AttentionTensors, run_attentive_recurrence


class BahdanauDecoder(RecurrentDecoder):
    """The previous state is the query, and the context feeds the recurrence; the readout sees state, context and token.

    Source: Bahdanau, Cho, Bengio (2015), equations 4 to 6.
    """

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        memory, embedding = memory_shape[-1] or 0, self.config.embedding
        readout_input_width = self.config.units + memory + embedding
        self.build_parts(memory, input_width=embedding + memory, readout_input_width=readout_input_width)

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        context, weights = self.attention.attend(state[self.query_name], state)
        changed = self.recur(ops.concatenate([embedded, context], axis=-1), state)
        return DecoderStep(changed, self.compute_readout(changed[self.query_name], context, embedded), weights)

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        return self.dropout(self.compute_readouts(embedded, state), training=training)

    def compute_readouts(self, embedded: Tensor, state: DecoderState) -> Tensor:
        """Returns the readouts (T, N, R) of all steps: at once where the recurrence allows it, else step by step."""
        tensors = self.attention.collect_tensors(state)
        if tensors is not None and self.config.layers == 1:
            hidden, context = self.run_attentive(embedded, state, tensors)
        elif not self.attention.uses_query:
            contexts = self.attention(swap_rows_and_time(embedded), state)[0]  # (N, T, M), all steps alike
            context = swap_rows_and_time(contexts)
            inputs = ops.concatenate([embedded, context], axis=-1)
            hidden = self.recur_over_time(inputs, state)
        else:
            return self.run_steps(embedded, state)
        return self.compute_readout(ops.cast(hidden, embedded.dtype), ops.cast(context, embedded.dtype), embedded)

    def run_attentive(self, embedded: Tensor, state: DecoderState, tensors: AttentionTensors) -> tuple[Tensor, Tensor]:
        """Returns the states (T, N, U) and the contexts (T, N, M) of one layer with additive attention.

        Equals `run_steps`, but is several times as fast: its gradients are hand-written (`fast/recurrence.py`).
        """
        (cell,), (names,) = self.cells, self.state_names
        input_bias, recurrent_bias = split_biases(cell)
        from_token, from_context = ops.split(cell.kernel, [embedded.shape[-1]], axis=0)
        return run_attentive_recurrence(
            select_gates(cell),
            project_inputs(embedded, from_token) + input_bias,
            [ops.cast(state[name], "float32") for name in names],
            ops.cast(cell.recurrent_kernel, "float32"),
            recurrent_bias,
            ops.cast(from_context, "float32"),
            tensors,
            dtype=self.compute_dtype,
        )

    def compute_readout(self, hidden: Tensor, context: Tensor, embedded: Tensor) -> Tensor:
        return self.readout(ops.concatenate([hidden, context, embedded], axis=-1))


class LuongDecoder(RecurrentDecoder):
    """The current state is the query; the readout is Luong's attentional vector tanh(W [context; state]).

    With input feeding the next step sees the readout concatenated with the token (`fed` in the state). Without it no
    step depends on the attention of another, and teacher forcing attends for all steps at once.
    Source: Luong, Pham, Manning (2015), section 3.
    """

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        memory, embedding = memory_shape[-1] or 0, self.config.embedding
        fed_width = self.config.readout_width if self.config.input_feeding else 0
        self.build_parts(memory, input_width=embedding + fed_width, readout_input_width=self.config.units + memory)

    def init_layer_states(self, encoded: EncoderOutput) -> DecoderState:
        state = super().init_layer_states(encoded)
        if self.config.input_feeding:
            zeros = ops.zeros_like(state[self.query_name][:, :1])
            state["fed"] = ops.repeat(zeros, self.config.readout_width, axis=1)
        return state

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        value = ops.concatenate([embedded, state["fed"]], axis=-1) if "fed" in state else embedded
        changed = self.recur(value, state)
        context, weights = self.attention.attend(changed[self.query_name], state)
        readout = self.compute_readout(changed[self.query_name], context)
        if "fed" in state:
            changed["fed"] = readout
        return DecoderStep(changed, readout, weights)

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        if "fed" in state:
            readouts = self.run_steps(embedded, state)
        else:
            hidden = ops.cast(self.recur_over_time(embedded, state), embedded.dtype)
            contexts = self.attention(swap_rows_and_time(hidden), state)[0]  # (N, T, M)
            readouts = self.compute_readout(hidden, swap_rows_and_time(contexts))
        return self.dropout(readouts, training=training)

    def compute_readout(self, hidden: Tensor, context: Tensor) -> Tensor:
        return self.readout(ops.concatenate([context, ops.cast(hidden, context.dtype)], axis=-1))


def swap_rows_and_time(values: Tensor) -> Tensor:
    """Transposes the first two axes: recurrences put time first, attention puts rows first."""
    return ops.transpose(values, (1, 0, 2))


# The attention of each name: what is compared, and when the decoder attends.
SYSTEMS: dict[str, tuple[type[Attention], type[RecurrentDecoder]]] = {
    "none": (NoAttention, BahdanauDecoder),
    "additive": (AdditiveAttention, BahdanauDecoder),
    "dot": (DotAttention, LuongDecoder),
    "general": (GeneralAttention, LuongDecoder),
    "concat": (AdditiveAttention, LuongDecoder),
    "scaled-dot": (ScaledDotAttention, LuongDecoder),
}


def make_recurrent_decoder(config: RnnConfig, name: str) -> RecurrentDecoder:
    """Returns the decoder with the configured attention."""
    attention, decoder = SYSTEMS[config.attention]
    return decoder(config, attention(config.attention_units, config.heads, name="attention"), name=name)
