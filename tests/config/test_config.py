from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from disconer.config import (
    HEADS,
    Config,
    ConfigError,
    DataConfig,
    EncoderConfig,
    HeadSettings,
    LstmConfig,
    TrainingConfig,
    config_from_dict,
    dump_config,
    load_config,
    preset_names,
    preset_text,
)
from disconer.config.load import parse_yaml
from disconer.config.template import commented_yaml, header_of, template
from disconer.core.errors import DisconerError
from disconer.nn.heads.span.kind import ScorerSettings, SpanSettings

MINIMAL = "data:\n  train: a.jsonl\n  dev: b.jsonl\n"


def loaded(tmp_path: Path, text: str, *overrides: str) -> Config:
    path = tmp_path / "config.yaml"
    path.write_text(text, "utf-8")
    return load_config(path, overrides)


def problems(tmp_path: Path, text: str, *overrides: str) -> dict[str, str]:
    """What is wrong, by key and place."""
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text, *overrides)
    assert str(tmp_path / "config.yaml") in str(caught.value)
    return dict(str(problem).split(": ", 1) for problem in caught.value.problems)


def test_two_paths_are_enough_and_the_rest_has_defaults(tmp_path: Path) -> None:
    config = loaded(tmp_path, MINIMAL)
    paths = (str(tmp_path / name) for name in ("a.jsonl", "b.jsonl"))
    assert config == Config(data=DataConfig(train=next(paths), dev=next(paths)))
    assert (config.head.kind, config.encoder.layers) == ("grid", 4)
    assert config.training.encoder_rate == 1e-4


def test_a_configuration_cannot_be_changed(tmp_path: Path) -> None:
    config = loaded(tmp_path, MINIMAL)
    with pytest.raises(ValueError, match="frozen"):
        config.training.seed = 2  # type: ignore[misc]
    assert isinstance(config.head.dilations, tuple)


def test_every_problem_is_said_at_once_with_its_key_and_line(tmp_path: Path) -> None:
    text = """
data:
  train: a.jsonl
encoder:
  layers: first
  dropout: yes
training:
  epoch: 3
  clip: 0
head:
  dilations: [1, none]
"""
    assert problems(tmp_path, text) == {
        "data.dev (line 2)": "missing. Development documents: they select the best epoch and stop training.",
        "encoder.layers (line 5)": 'got "first", expected last or mix, or a whole number from 1',
        "encoder.dropout (line 6)": "got true, expected a number from 0 and below 1",
        "training.epoch (line 8)": "unknown key; did you mean 'epochs'?",
        "training.clip (line 9)": "got 0, expected a number above 0",
        "head.dilations (line 11)": 'got [1, "none"], expected a list of at most 32 whole numbers from 1',
    }


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("training: {encoder_rat: 1}", "'encoder_rate'"),
        ("encodr: {}", "'encoder'"),
        ("epochs: 3", "'training.epochs'"),
        ("head: {lstm: {}}", "'encoder.lstm'"),
    ],
)
def test_an_unknown_key_gets_the_one_that_was_meant(tmp_path: Path, key: str, meant: str) -> None:
    ((_, what),) = problems(tmp_path, f"{MINIMAL}{key}\n").items()
    assert what == f"unknown key; did you mean {meant}?"


def test_an_unknown_key_like_no_other_gets_the_list(tmp_path: Path) -> None:
    ((_, what),) = problems(tmp_path, f"{MINIMAL}syntax: {{zzz: 1}}\n").items()
    assert what == "unknown key; the keys here are parser, missing, gcn"


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        (
            "kind: vectors, pooling: max",
            "pooling is only for kind: transformer, but kind is vectors: remove pooling",
        ),
        ("kind: elmo, layers: mix", "layers is only for kind: transformer, but kind is elmo"),
        ("rows: all", "rows is only for kind: vectors, but kind is transformer"),
        ("characters: null", "characters is only for kind: vectors"),
    ],
)
def test_a_knob_of_another_kind_of_encoder_is_refused(tmp_path: Path, knobs: str, what: str) -> None:
    assert what in problems(tmp_path, f"{MINIMAL}encoder: {{{knobs}}}\n")["encoder (line 4)"]


def test_dropout_between_layers_needs_two_of_them(tmp_path: Path) -> None:
    ((key, what),) = problems(tmp_path, f"{MINIMAL}encoder: {{lstm: {{dropout: 0.3}}}}\n").items()
    assert key == "encoder.lstm (line 4)"
    assert what.startswith(
        "dropout is between stacked layers, but layers is 1, so 0.3 would do nothing: set layers to 2"
    )
    assert loaded(tmp_path, f"{MINIMAL}encoder: {{lstm: {{dropout: 0.3, layers: 2}}}}\n").encoder.lstm == LstmConfig(
        dropout=0.3, layers=2
    )


@pytest.mark.parametrize(
    ("knob", "hint"),
    [
        ("head.kind=tager", "did you mean 'tagger'?"),
        ("encoder.kind=vector", "did you mean 'vectors'?"),
        ("head.kind=word", "or one that another package adds: is that installed?"),
    ],
)
def test_an_unknown_kind_is_told_what_may_be_meant(tmp_path: Path, knob: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, MINIMAL, knob)
    assert caught.value.problems[0].what.endswith(hint)


@pytest.mark.parametrize("preset", sorted(set(preset_names()) - {"chia-glove"}))  # which sets a knob of its own kind
def test_another_kind_of_encoder_is_a_line(preset: str) -> None:
    for kind in ("vectors", "elmo", "transformer"):
        assert load_config(preset, [f"encoder.kind={kind}"]).encoder.kind == kind


def test_a_template_has_the_knobs_of_its_kind_of_encoder(tmp_path: Path) -> None:
    def written(kind: str) -> str:
        config = loaded(tmp_path, MINIMAL, f"encoder.kind={kind}")
        text = commented_yaml(config)
        assert loaded(tmp_path, text) == config
        return text

    assert "  pooling: first" in written("transformer")
    assert "  rows: data" not in written("transformer")
    assert "  rows: data" in written("vectors")
    assert "  characters:\n    size: 30" in re.sub(" +#.*", "", written("vectors"))
    assert "  pooling: first" not in written("vectors")


def test_a_gcn_needs_a_parser(tmp_path: Path) -> None:
    assert "needs a dependency graph" in problems(tmp_path, f"{MINIMAL}syntax: {{gcn: {{}}}}\n")["syntax (line 4)"]
    assert loaded(tmp_path, f"{MINIMAL}syntax: {{parser: data, gcn: {{}}}}\n").syntax.gcn is not None


@pytest.mark.parametrize("line", ["spacy:en_core_web_sm", "corenlp:http://localhost:9000", "conllu:a.conllu", "none"])
def test_a_parser_is_one_line(tmp_path: Path, line: str) -> None:
    assert loaded(tmp_path, f"{MINIMAL}syntax: {{parser: '{line}'}}\n").syntax.parser == line
    assert loaded(tmp_path, MINIMAL, f"syntax.parser={line}").syntax.parser == line


def test_a_line_that_names_no_parser(tmp_path: Path) -> None:
    found = problems(tmp_path, f"{MINIMAL}syntax: {{parser: spacey, missing: ignore}}\n")
    assert "there is no parser 'spacey', expected one of none, data, spacy:PIPELINE" in found["syntax.parser (line 4)"]
    assert found["syntax.missing (line 4)"] == 'got "ignore", expected skip or error'


def test_heads_are_needed_where_something_is_made_of_them(tmp_path: Path) -> None:
    text = f"{MINIMAL}syntax: {{parser: data}}\n"
    assert not loaded(tmp_path, text).syntax.needed
    assert loaded(tmp_path, text, "syntax.gcn={}").syntax.needed


def test_the_rate_must_have_risen_before_training_can_stop(tmp_path: Path) -> None:
    late = problems(tmp_path, f"{MINIMAL}training: {{epochs: 100, warmup: 0.2, patience: 15}}\n")
    assert "takes warmup * epochs = 20 epochs" in late["training (line 4)"]
    loaded(tmp_path, f"{MINIMAL}training: {{epochs: 75, warmup: 0.2, patience: 15}}\n")


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("data: [\n", "line 2", "this is not YAML"),
        ("\ta: 1\n", "line 1", "this is not YAML"),
        ("a: &x 1\nb: *x\n", "line 2", "aliases"),
        ("!!python/name:os.system x", "line 1", "this is not YAML"),
        ("- 1\n", "line 1", "expected sections"),
        ("data: {train: a, dev: b}\ndata: {}\n", "data (line 2)", "given twice, first on line 1"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_by_line(tmp_path: Path, text: str, place: str, what: str) -> None:
    assert what in problems(tmp_path, text)[place]


@pytest.mark.parametrize("text", ["[" * 100_000, "a: 1\n" * 300_000, "a: \x00"])
def test_hostile_files_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        loaded(tmp_path, text)


def test_alias_bombs_do_not_go_off() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(60))
    assert "aliases" in str(parse_yaml(bomb).problems)


@pytest.mark.parametrize(("text", "value"), [("5e-5", 5e-5), ("1E3", 1e3), ("-2.e+1", -20.0), ("5e", "5e"), ("1", 1)])
def test_numbers_with_an_exponent_are_numbers(text: str, value: object) -> None:
    assert parse_yaml(text).values == value


@pytest.mark.parametrize("text", ["2024-01-31", "2024-13-45", "0x_"])
def test_names_that_look_like_dates_or_numbers_are_text(text: str) -> None:
    assert parse_yaml(text).values == text


def test_overrides_go_over_the_file_and_later_ones_over_earlier_ones(tmp_path: Path) -> None:
    overrides = ["training.seed=7", "training.seed=8", "training.encoder_rate=3e-5", "encoder.lstm.size=64"]
    config = loaded(tmp_path, f"{MINIMAL}training: {{seed: 1}}\n", *overrides, "head.dilations=[1, 2]")
    assert config.training.seed == 8
    assert config.training.encoder_rate == 3e-5
    assert config.encoder.lstm == LstmConfig(size=64)
    assert config.head.dilations == (1, 2)


def test_bad_overrides_are_said_with_everything_else(tmp_path: Path) -> None:
    bad = ["seed", "=1", "data.train.x=1", "training.clip=[", "training.sed=1"]
    assert problems(tmp_path, "data: {train: a}\n", *bad) == {
        "override 'seed'": "expected section.key=value, such as training.seed=7",
        "override '=1'": "expected section.key=value, such as training.seed=7",
        "data.train (override 'data.train.x=1')": "a single value, which has no keys below it",
        "training.clip (override 'training.clip=[')": "this is not YAML: while parsing a flow node: "
        "expected the node content, but found '<stream end>'",
        "training.sed (override 'training.sed=1')": "unknown key; did you mean 'seed'?",
        "data.dev (line 1)": "missing. Development documents: they select the best epoch and stop training.",
    }


@pytest.mark.parametrize("labels", ["[]", '[""]'])
def test_labels_are_not_none_and_not_empty(tmp_path: Path, labels: str) -> None:
    name = f"data.labels (override 'data.labels={labels}')"
    expected = "a list of 1 or more texts of 1 or more characters, or null"
    assert problems(tmp_path, "data: {train: a, dev: b}\n", f"data.labels={labels}") == {
        name: f"got {labels}, expected {expected}"
    }


def test_a_name_that_is_neither_file_nor_preset_gets_a_guess(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"ace05, cadec.*Did you mean 'chia'\?"):
        load_config("chai")
    with pytest.raises(DisconerError, match="disconer init"):
        load_config(tmp_path / "config.yaml")


names = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["1e5", "null", "yes", "# a", "a: b", "a\n\nb", "\x85", "\u2028", "\ufeff"]
)
rates = st.floats(0, 1e6, exclude_min=True)
configs = st.builds(
    Config,
    data=st.builds(DataConfig, train=names, dev=names, test=st.none() | names),
    encoder=st.builds(
        EncoderConfig, name=names, layers=st.sampled_from(["last", "mix", 4]), lstm=st.builds(LstmConfig)
    ),
    head=st.builds(
        SpanSettings,
        max_width=st.none() | st.integers(1, 50),
        fragments=st.builds(ScorerSettings, hidden=st.lists(st.integers(1, 999), max_size=3).map(tuple)),
    ),
    training=st.builds(TrainingConfig, encoder_rate=rates, clip=rates),
)


@given(config=configs)
def test_yaml_with_and_without_comments_comes_back_the_same(config: Config) -> None:
    assert config_from_dict(config.to_dict()) == config
    assert config_from_dict(parse_yaml(dump_config(config)).values) == config
    assert config_from_dict(parse_yaml(commented_yaml(config)).values) == config


def sections(model: type[BaseModel]) -> list[type[BaseModel]]:
    parts = [part for field in model.model_fields.values() for part in (field.annotation, *get_args(field.annotation))]
    below = [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
    return [model, *(found for part in below for found in sections(part))]


def test_every_knob_is_described_and_its_choices_named() -> None:
    heads = [found for name in HEADS.names() for found in sections(HEADS.get(name).settings)]
    described = [
        (section.__name__, name, field)
        for section in (*sections(Config), *heads)
        for name, field in section.model_fields.items()
        if not (issubclass(section, HeadSettings) and name == "kind")  # which the configuration describes itself
    ]
    assert len(described) > 70
    for section, name, field in described:
        assert field.description, f"{section}.{name}"
        for choice in get_args(field.annotation):
            if isinstance(choice, str):
                assert choice in field.description, f"{section}.{name}"


def test_the_template_shows_sections_that_are_switched_off() -> None:
    text = commented_yaml(Config(data=DataConfig(train="a", dev="b"), encoder=EncoderConfig(lstm=None)))
    assert "  # lstm:\n  #   size: 200    " in text
    assert "  # gcn:\n  #   blocks: 2    " in text


PRESETS = [
    "ace05",
    "cadec",
    "chia",
    "chia-glove",
    "clef",
    "clef-dis",
    "craft",
    "genia",
    "genia-paper",
    "phee",
    "psytar",
]


def test_the_presets_are_there() -> None:
    assert list(preset_names()) == PRESETS


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_opens_with_its_commands_and_explains_every_knob(name: str) -> None:
    text = preset_text(name)
    config = load_config(name)
    assert f"#   disconer train {name} --out models/{name}\n" in text
    assert re.search(rf"^#   disconer prepare \S+ \S+ {Path(config.data.train).parent}(?: |$)", text, re.MULTILINE)
    assert text == template(config, header_of(text)), "run python -m disconer.config.template on it"


# d_h (None: the encoder's own 768), N_head, l, d_f, hidden layers, beta; and the authors' code's widths
TABLE_7 = {
    "clef": (400, 4, 2, 20, (150,), 1.0, 6),
    "clef-dis": (400, 4, 2, 20, (150,), 1.0, 6),
    "cadec": (400, 4, 2, 20, (150,), 1.0, 6),
    "genia-paper": (None, 4, 2, 64, (150, 150), 1.0, 8),
    "ace05": (None, 4, 1, 64, (150, 150), 0.6, 8),
}


@pytest.mark.parametrize("name", TABLE_7)
def test_the_papers_presets_are_its_table_7(name: str) -> None:
    config = load_config(name)
    lstm, gcn, head, training = config.encoder.lstm, config.syntax.gcn, config.head, config.training
    assert gcn is not None
    assert head.fragments.hidden == head.relations.hidden
    found = (lstm and 2 * lstm.size, gcn.heads, gcn.blocks, gcn.size, head.fragments.hidden, head.beta, head.max_width)
    assert found == TABLE_7[name]
    assert (head.alpha, head.width_size, head.labels) == (1.0, 20, "one")
    assert (training.encoder_rate, training.head_rate, training.patience, training.clip) == (5e-5, 1e-3, 15, 5.0)
    assert training.steps_at_least == 0  # the paper's epochs are one pass each
