"""A graph decides about no file of this computer: all its values are in it, or are handed over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from disconer import DisconerError, Recognizer
from disconer.predict.onnx.outside import tensors_outside
from disconer.predict.onnx.runtime import exported_sessions
from disconer.store.checkpoint import save_model
from nn.toy import letter_model
from once import with_graphs_once

VALUES = np.arange(4, dtype=np.float32)


def external(name: str, location: str) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("length", str(VALUES.nbytes))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def with_tensor(tensor: TensorProto, *, place: str = "initializer") -> ModelProto:
    """A network that adds a tensor to its input. place: where the tensor is."""
    value = helper.make_tensor_value_info
    constant = helper.make_node("Constant", [], ["w"], value=tensor)
    add = helper.make_node("Add", ["x", "w"], ["y"])
    nodes, initializers, functions = [add], [], []
    if place == "initializer":
        initializers = [tensor]
    elif place == "node":
        nodes = [constant, add]
    elif place == "branch":
        branch = helper.make_graph([constant], "branch", [], [value("w", TensorProto.FLOAT, [4])])
        yes = helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("", TensorProto.BOOL, [], [True]))
        nodes = [yes, helper.make_node("If", ["yes"], ["w"], then_branch=branch, else_branch=branch), add]
    else:
        assert place == "function"
        functions = [helper.make_function("own", "F", [], ["w"], [constant], [helper.make_opsetid("", 20)])]
        nodes = [helper.make_node("F", [], ["w"], domain="own"), add]
    ends = [value("x", TensorProto.FLOAT, [4])], [value("y", TensorProto.FLOAT, [4])]
    graph = helper.make_graph(nodes, "g", *ends, initializers)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9)


@pytest.mark.parametrize("place", ["initializer", "node", "branch", "function"])
def test_values_in_other_files_are_seen_wherever_they_are(place: str, tmp_path: Path) -> None:
    within = with_tensor(helper.make_tensor("w", TensorProto.FLOAT, [4], VALUES.tolist()), place=place)
    outside = with_tensor(external("w", "../w"), place=place)
    path = tmp_path / "network.onnx"
    for model, expected in ((within, []), (outside, ["w"])):
        path.write_bytes(model.SerializeToString())
        assert set(tensors_outside(path)) == set(tensors_outside(path.read_bytes())) == set(expected)


def test_a_weight_that_is_handed_over_is_read_from_no_file() -> None:
    assert tensors_outside(with_tensor(external("w", "w")).SerializeToString(), given={"w"}) == []
    assert tensors_outside(with_tensor(external("w", "w"), place="node").SerializeToString(), given={"w"}) == ["w"]


@pytest.mark.parametrize("location", ["{secret}", "../secret", "beside"])
def test_an_exported_model_reads_no_other_file(location: str, tmp_path: Path) -> None:
    folder, secret = tmp_path / "model", tmp_path / "secret"
    folder.mkdir()
    for path in (secret, folder / "beside"):
        path.write_bytes(VALUES.tobytes())
    graph = with_tensor(external("w", location.format(secret=secret)))
    (folder / "network.onnx").write_bytes(graph.SerializeToString())
    with pytest.raises(
        DisconerError, match=r"(?s)network\.onnx.*weights from external files.*values of 'w' in another"
    ):
        exported_sessions(folder)


def test_a_stored_model_reads_no_file_of_the_folder_one_is_in(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its graphs are loaded from memory: paths in them begin where the user is."""
    save_model(with_graphs_once(tmp_path_factory, letter_model()), tmp_path / "model")
    path = tmp_path / "model" / "onnx" / "network.onnx"
    graph = onnx.load(path, load_external_data=False)
    (tmp_path / "secret").write_bytes(VALUES.tobytes())
    graph.graph.initializer.append(external("taken", "secret"))
    graph.graph.node.append(helper.make_node("Identity", ["taken"], ["sent"]))
    graph.graph.output.append(helper.make_tensor_value_info("sent", TensorProto.FLOAT, [4]))
    path.write_bytes(graph.SerializeToString())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DisconerError, match="values of 'taken' in another file"):
        Recognizer.from_pretrained(tmp_path / "model", runtime="onnx")


@pytest.mark.parametrize("damaged", [b"\x3a\xff\xff\xff\xff\x0f", b"\x3b", b"\xff" * 12, b"\x3a\x05\x0a"])
def test_what_is_not_onnx_is_refused(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / "network.onnx").write_bytes(damaged)
    with pytest.raises(DisconerError, match="missing or damaged"):
        exported_sessions(tmp_path)


def test_graphs_within_graphs_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    """Protobuf itself writes no more than a hundred."""
    field = b""
    for _ in range(3000):
        for key in (b"\x0a", b"\x2a", b"\x32"):  # a node, its attribute, a graph
            field = key + varint(len(field)) + field
    (tmp_path / "network.onnx").write_bytes(b"\x3a" + varint(len(field)) + field)
    with pytest.raises(DisconerError, match="missing or damaged"):
        exported_sessions(tmp_path)


def varint(value: int) -> bytes:
    written = b""
    while value > 127:
        written, value = written + bytes([value & 127 | 128]), value >> 7
    return written + bytes([value])
