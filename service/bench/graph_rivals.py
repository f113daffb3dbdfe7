"""The encoder as an ONNX graph with its states as inputs and outputs, run by ONNX Runtime and OpenVINO.

Each convolution sees its state and the chunk side by side, and gives back their end as the next state:

    z = [state, x],    y = conv_d(z) + b,    state' = z[:, :, -(k-1) d:]

A strided one keeps k - s inputs, and chunks are whole strides.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from service.bench.contestant import Contestant, Features, Refused
from service.bench.graph_maps import add_maps, order
from streaming.block import Samples
from streaming.encoder import Encoder
from streaming.shape import LEAK
from streaming.weights import ConvWeights, folded, folded_stages

Shape = tuple[int, int, int]  # (B, C, T)


@dataclass
class Graph:
    """An ONNX graph under construction, for chunks of one shape: a fixed shape is what both run fastest."""

    streams: int
    chunk: int
    activation: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    states: dict[str, Shape] = field(default_factory=dict)

    def add(self, op: str, inputs: list[str], **attributes: Any) -> str:  # noqa: ANN401
        """A node; the name of its output."""
        name = f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, array: NDArray[np.generic]) -> str:
        """A constant's name."""
        self.constants.append(
            numpy_helper.from_array(np.ascontiguousarray(array), f"constant{len(self.constants)}")
        )
        return self.constants[-1].name

    def slice(self, x: str, axis: int, begin: int, end: int, output: str | None = None) -> str:
        """A part of a value along an axis."""
        name = output or f"value{len(self.nodes)}"
        where = [self.constant(np.array([number])) for number in (begin, end, axis)]
        self.nodes.append(helper.make_node("Slice", [x, *where], [name]))
        return name

    def after_state(self, x: str, channels: int, length: int) -> str:
        """A value behind a state, which is then the end of both."""
        if not length:
            return x
        name = f"state{len(self.states)}"
        self.states[name] = (self.streams, channels, length)
        joined = self.add("Concat", [name, x], axis=2)
        self.slice(joined, 2, -length, 2**31 - 1, f"next_{name}")
        return joined

    def conv(self, x: str, weights: ConvWeights, inputs: list[int] | None = None) -> str:
        """A causal convolution with its state; `inputs` says which of its channels those of x are."""
        taps, stride = weights.by_input(), weights.stride  # (k, C_in, C_out)
        x = self.after_state(x, taps.shape[1], weights.history * stride)
        given = self.constant((taps if inputs is None else taps[:, inputs]).transpose(2, 1, 0))
        names = [x, given, self.constant(weights.bias)]
        return self.add("Conv", names, dilations=[weights.dilation], strides=[stride])

    def act(self, x: str) -> str:
        """The activation."""
        if self.activation == "leaky_relu":
            return self.add("LeakyRelu", [x], alpha=LEAK)
        return self.add({"relu": "Relu", "softplus": "Softplus"}[self.activation], [x])


def graph_of(encoder: Encoder, streams: int, chunk: int) -> tuple[bytes, dict[str, Shape]]:
    """The model file and the shapes of its states: samples (B, 2, T) to maxima (B, reduced)."""
    shape = encoder.shape
    if chunk % shape.stride:
        raise Refused(f"takes chunks of whole strides, {shape.stride} samples")
    graph = Graph(streams, chunk, shape.activation)
    x, inputs = add_maps(graph, "samples", shape.maps), order(shape.maps)
    for stage in folded_stages(encoder):
        x, inputs = graph.act(graph.conv(x, stage, inputs)), [*range(len(stage.bias))]
    for block in folded(encoder):
        h = graph.act(graph.conv(graph.act(graph.conv(x, block.conv1, inputs)), block.conv2))
        if block.residual is not None:
            taps, bias = block.residual
            x = graph.conv(x, ConvWeights(taps[None], bias, 1), inputs)
        inputs = [*range(len(block.conv1.bias))]
        x = graph.add("Add", [h, x])
    graph.nodes.append(
        helper.make_node("ReduceMax", [x, graph.constant(np.array([2]))], ["maxima"], keepdims=0)
    )

    def declare(prefix: str = "") -> list[onnx.ValueInfoProto]:
        return [
            helper.make_tensor_value_info(prefix + name, TensorProto.FLOAT, shape)
            for name, shape in graph.states.items()
        ]

    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "encoder",
            [helper.make_tensor_value_info("samples", TensorProto.FLOAT, (streams, 2, chunk)), *declare()],
            [
                helper.make_tensor_value_info("maxima", TensorProto.FLOAT, (streams, encoder.shape.reduced)),
                *declare("next_"),
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    return model.SerializeToString(), graph.states


def planar(samples: Samples) -> Features:
    """Complex (B, T) as real (B, 2, T)."""
    return np.ascontiguousarray(samples.view(np.float32).reshape(*samples.shape, 2).transpose(0, 2, 1))


class OnnxRuntime(Contestant):
    """ONNX Runtime, each state bound to one of two buffers that change places after every run."""

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        import onnxruntime

        self.step = self.width = chunk
        model, states = graph_of(encoder, streams, chunk)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        value = onnxruntime.OrtValue.ortvalue_from_numpy
        buffers = [
            {name: value(np.zeros(shape, np.float32)) for name, shape in states.items()} for _ in range(2)
        ]
        self.samples = value(np.zeros((streams, 2, chunk), np.float32))
        self.output = value(np.zeros((streams, encoder.shape.reduced), np.float32))
        self.bindings = []
        for now, then in (buffers, buffers[::-1]):
            binding = session.io_binding()
            binding.bind_ortvalue_input("samples", self.samples)
            binding.bind_ortvalue_output("maxima", self.output)
            for name in states:
                binding.bind_ortvalue_input(name, now[name])
                binding.bind_ortvalue_output(f"next_{name}", then[name])
            self.bindings.append(binding)
        self.session = session

    def push(self, samples: Samples) -> Features:
        """The maxima over the chunk (B, reduced)."""
        self.samples.update_inplace(planar(samples))
        self.session.run_with_iobinding(self.bindings[0])
        self.bindings.reverse()
        maxima: Features = self.output.numpy()
        return maxima


class OpenVino(Contestant):
    """OpenVINO, with the states made variables of the model."""

    def __init__(self, encoder: Encoder, streams: int, chunk: int) -> None:
        import openvino
        from openvino.passes import MakeStateful, Manager

        self.step = self.width = chunk
        data, states = graph_of(encoder, streams, chunk)
        core = openvino.Core()
        model = core.read_model(data)
        manager = Manager()
        manager.register_pass(MakeStateful({name: f"next_{name}" for name in states}))
        manager.run_passes(model)
        settings = {
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",  # it would take bfloat16 by itself where the processor has it
        }
        self.request = core.compile_model(model, "CPU", settings).create_infer_request()

    def push(self, samples: Samples) -> Features:
        """The maxima over the chunk (B, reduced)."""
        self.request.infer([planar(samples)], share_inputs=True)
        maxima: Features = self.request.get_output_tensor(0).data
        return maxima
