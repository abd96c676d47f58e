"""Weights files: what was written comes back, and anything else is refused by name."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save
from torch import Tensor, nn

from hardgap.core.checkpoint import CorruptFile, load_tensors, load_weights, save_tensors, sidecar
from hardgap.core.errors import BadInput

TENSORS: dict[str, Tensor] = {
    "weight": torch.arange(6, dtype=torch.float32).view(2, 3),
    "bias": torch.tensor([float("nan"), -0.0]),
    "count": torch.tensor(7),
    "empty": torch.zeros(0, 3),
    "turned": torch.arange(4.0).view(2, 2).t(),
}
META: dict[str, Any] = {"step": 3, "curve": [{"step": 0, "loss": None}], "loss": [0.1 + 0.2, 1]}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "state-00000003.safetensors"
    save_tensors(path, TENSORS, META)
    return path


def damaged(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_what_was_written_comes_back_bit_for_bit(written: Path) -> None:
    tensors, meta = load_tensors(written)
    assert meta == META
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name].isnan(), tensor.isnan())
        assert torch.equal(tensors[name].nan_to_num(), tensor.nan_to_num())
    assert sorted(p.name for p in written.parent.iterdir()) == [written.name, sidecar(written).name]


def test_the_same_content_gives_the_same_bytes(written: Path, tmp_path: Path) -> None:
    again = tmp_path / "again" / "deeper" / written.name
    save_tensors(again, TENSORS, META)
    assert again.read_bytes() == written.read_bytes()


def test_sha256sum_reads_the_sidecar(written: Path) -> None:
    digest = hashlib.sha256(written.read_bytes()).hexdigest()
    assert sidecar(written).read_text() == f"{digest}  {written.name}\n"


def test_a_file_cut_anywhere_is_refused_by_name(written: Path) -> None:
    data = written.read_bytes()
    for length in [*range(0, len(data), 5), len(data) - 1]:
        with pytest.raises(CorruptFile, match=str(written)):
            load_tensors(damaged(written, data[:length]))
    for tail in (b"\0", b"more"):
        with pytest.raises(CorruptFile, match=str(written)):
            load_tensors(damaged(written, data + tail))
    load_tensors(damaged(written, data))


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_anywhere_is_refused_by_name(written: Path, data: st.DataObject) -> None:
    save_tensors(written, TENSORS, META)
    whole = bytearray(written.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(whole) - 1), label="bit")
    whole[bit // 8] ^= 1 << (bit % 8)
    with pytest.raises(CorruptFile, match=f"{written} does not match its checksum"):
        load_tensors(damaged(written, bytes(whole)))


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_in_the_checksum_is_refused(written: Path, data: st.DataObject) -> None:
    save_tensors(written, TENSORS, META)
    text = bytearray(sidecar(written).read_bytes())
    bit = data.draw(st.integers(0, 8 * 64 - 1), label="bit")
    text[bit // 8] ^= 1 << (bit % 8)
    sidecar(written).write_bytes(bytes(text))
    with pytest.raises(CorruptFile, match=str(written)):
        load_tensors(written)


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_file_without_its_checksum_is_refused(written: Path, content: bytes | None) -> None:
    sidecar(written).unlink()
    if content is not None:
        sidecar(written).write_bytes(content)
    with pytest.raises(CorruptFile, match=f"{written} or its checksum {written.name}.sha256 is missing or empty"):
        load_tensors(written)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="missing"):
        load_tensors(tmp_path / "nothing")


def with_checksum(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    sidecar(path).write_text(f"{hashlib.sha256(data).hexdigest()}  {path.name}\n")
    return path


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04 not tensors at all",
        b"\xff" * 64,
        (10).to_bytes(8, "little") + b"[1,2,3]   ",
        (2).to_bytes(8, "little") + b"{}",
        save({"weight": torch.zeros(2)}),
        save({"weight": torch.zeros(2)}, {"other": "program"}),
        save({"weight": torch.zeros(2)}, {"hardgap": "not json"}),
    ],
)
def test_an_intact_file_of_another_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    path = with_checksum(tmp_path / "other.safetensors", data)
    with pytest.raises(CorruptFile, match=f"{path} is not a hardgap weights file"):
        load_tensors(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight": torch.zeros(3, 2)}, r"weight is \[3, 2\], not \[2, 3\]"),
        ({"weight": torch.zeros(2, 3, 1)}, r"weight is \[2, 3, 1\], not \[2, 3\]"),
        ({"extra": torch.zeros(1)}, "it disagrees about extra"),
        ({"bias": None}, "it disagrees about bias"),
    ],
)
def test_weights_of_another_shape_are_refused(change: dict[str, Tensor | None], words: str) -> None:
    model = nn.Linear(3, 2)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    given_weights = {**{name: torch.zeros_like(t) for name, t in before.items()}, **change}
    weights = {name: tensor for name, tensor in given_weights.items() if tensor is not None}
    with pytest.raises(CorruptFile, match=f"some/file does not fit this network: {words}"):
        load_weights(model, weights, Path("some/file"))
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_an_interrupted_write_leaves_no_checksum(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more_space(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", no_more_space)
    with pytest.raises(BadInput, match=f"cannot write {written}: No space left"):
        save_tensors(written, {"weight": torch.zeros(1)}, {})
    assert [p.name for p in written.parent.iterdir()] == [written.name]


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "state.safetensors"
    with pytest.raises(BadInput, match=f"cannot write {path}: (Not a directory|File exists)"):
        save_tensors(path, TENSORS, META)
