"""The input maps of `streaming.maps` as nodes of an ONNX graph; the samples they look back on are a state.

Delayed products are made side by side, as few large nodes: their channels come last, so that the first
convolution's taps have to follow `order`.
"""

from typing import TYPE_CHECKING

import numpy as np

from streaming.maps import LAGS, QUIETEST, SMALLEST, InputMap, longest_lag

if TYPE_CHECKING:
    from service.bench.graph_rivals import Graph

Complex = tuple[str, str]  # the names of real and imaginary part, (B, 1, T) or (B, delays, T)


def order(maps: tuple[InputMap, ...]) -> list[int]:
    """For each channel of the graph, which of `streaming.maps.expand` it is."""
    places, at = {}, 0
    for name in maps or ("iq",):
        places[name] = at
        at += 1 if name in ("amplitude", "level") else 2
    found = []
    for name in (name for name in places if name not in LAGS):
        found += [places[name]] if name in ("amplitude", "level") else [places[name], places[name] + 1]
    delayed = [place for name, place in places.items() if name in LAGS]
    return found + delayed + [place + 1 for place in delayed]


def add_maps(graph: "Graph", samples: str, maps: tuple[InputMap, ...]) -> str:
    """Samples (B, 2, T) to the channels (B, C, T)."""
    if not maps:
        return samples
    lag = longest_lag(maps)
    seen = graph.after_state(samples, 2, lag)  # (B, 2, lag + T)
    power = graph.add("ReduceSumSquare", [seen, graph.constant(np.array([1]))], keepdims=1)
    amplitude = graph.add("Sqrt", [graph.add("Add", [power, graph.constant(np.array(SMALLEST, np.float32))])])
    phasor = _parts(graph, graph.add("Div", [seen, amplitude]))
    channels: list[str] = []
    product = None
    for name in (name for name in maps if name not in LAGS):
        if name == "iq":
            channels.append(samples)
        elif name == "amplitude":
            channels.append(_now(graph, amplitude, lag))
        elif name == "level":
            level = graph.add(
                "Log", [graph.add("Add", [power, graph.constant(np.array(QUIETEST, np.float32))])]
            )
            channels.append(
                _now(graph, graph.add("Mul", [level, graph.constant(np.array(0.5, np.float32))]), lag)
            )
        elif name == "phase":
            channels += [_now(graph, part, lag) for part in phasor]
        else:
            now = (_now(graph, phasor[0], lag), _now(graph, phasor[1], lag))
            product = product or _times(graph, _parts(graph, samples), now)
            channels += product if name == "square" else _times(graph, _times(graph, product, now), now)
    delayed = [name for name in maps if name in LAGS]
    if delayed:
        half = _parts(graph, graph.add("Div", [seen, graph.add("Sqrt", [amplitude])]))
        of = [phasor if name == "increment" else half for name in delayed]
        now = _joined(graph, [_shifted(graph, factor, lag, 0) for factor in of])
        before = _joined(
            graph,
            [_shifted(graph, factor, lag, LAGS[name]) for factor, name in zip(of, delayed, strict=True)],
        )
        channels += _times(graph, now, (before[0], graph.add("Neg", [before[1]])))
    return graph.add("Concat", channels, axis=1)


def _parts(graph: "Graph", x: str) -> Complex:
    return graph.slice(x, 1, 0, 1), graph.slice(x, 1, 1, 2)


def _now(graph: "Graph", x: str, lag: int) -> str:
    return graph.slice(x, 2, lag, lag + graph.chunk)


def _shifted(graph: "Graph", x: Complex, lag: int, by: int) -> Complex:
    begin, end = lag - by, lag - by + graph.chunk
    return graph.slice(x[0], 2, begin, end), graph.slice(x[1], 2, begin, end)


def _joined(graph: "Graph", parts: list[Complex]) -> Complex:
    re, im = ([part[i] for part in parts] for i in range(2))
    return graph.add("Concat", re, axis=1), graph.add("Concat", im, axis=1)


def _times(graph: "Graph", a: Complex, b: Complex) -> Complex:
    re = graph.add("Sub", [graph.add("Mul", [a[0], b[0]]), graph.add("Mul", [a[1], b[1]])])
    im = graph.add("Add", [graph.add("Mul", [a[0], b[1]]), graph.add("Mul", [a[1], b[0]])])
    return re, im
