from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from disconer import BadInput, DisconerError, Ledger
from disconer.core.corpus import Corpus
from disconer.core.types import Document, Kind
from disconer.corpora import recipe_named
from disconer.corpora.clef_files import dai
from disconer.corpora.recipe import SPLITS, split_ids

ROOT = "shareclef-ehealth-2013-natural-language-processing-and-information-retrieval-for-clinical-care-1.0"
DEV_IDS = split_ids("clef", "dev")
ECHO = "00176-102920-ECHO_REPORT"
TRAIN_NOTE = "02014-102015-DISCHARGE_SUMMARY"  # a number that looks like years

Pairs = list[tuple[int, int]]


def spans(text: str, *mentions: str) -> list[Pairs]:
    """The ranges of mentions, their fragments parted by ' … '."""
    return [[(text.index(part), text.index(part) + len(part)) for part in it.split(" … ")] for it in mentions]


TEXT = "The left atrium is moderately dilated.\nNo fever or chills.\n"
MENTIONS = spans(TEXT, "left atrium … dilated", "fever", "chills", "fever")
ANNOTATED = {TRAIN_NOTE: (TEXT, MENTIONS)} | {id: ("No pain.\n", spans("No pain.\n", "pain")) for id in DEV_IDS}
TESTED = {ECHO: ("Mitral valve leaflets are thickened.\n", [[(0, 12), (26, 35)]])}


def knowtator(id: str, text: str, mentions: list[Pairs]) -> str:
    annotations = "".join(
        f'<annotation><mention id="EHOST_{number}" />'
        + "".join(f'<span start="{start}" end="{end}" />' for start, end in pairs)
        + f"<spannedText>{escape(' ... '.join(text[start:end] for start, end in pairs))}</spannedText></annotation>"
        f'<classMention id="EHOST_{number}"><mentionClass id="Disease_Disorder">x</mentionClass></classMention>'
        for number, pairs in enumerate(mentions)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?><annotations textSource="{id}.txt">{annotations}</annotations>'


def pipes(id: str, mentions: list[Pairs], cui: str = "C0000001") -> str:
    return "".join(
        f"{id}.txt||Disease_Disorder||{cui}||" + "||".join(f"{start}||{end}" for start, end in pairs) + "\n"
        for pairs in mentions
    )


def zipped(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    return buffer.getvalue()


Notes = Mapping[str, tuple[str, list[Pairs]]]


def archives(train: Notes = ANNOTATED, test: Notes = TESTED) -> dict[str, bytes]:
    """The files of the PhysioNet download: archives, and among them those of task 2 and of another gold."""
    unannotated = {"ALLREPORTS/00999-099999-ECG_REPORT.txt": "Sinus rhythm.\n"}
    return {
        "Task1TrainSetCorpus199.zip": zipped({f"ALLREPORTS/{id}.txt": text for id, (text, _) in train.items()}),
        "Task1TrainSetGOLD199knowtatorehost.zip": zipped(
            {f"ALLSAVED/{id}.txt.knowtator.xml": knowtator(id, *note) for id, note in train.items()}
            | {"__MACOSX/ALLSAVED/._00098-016139-DISCHARGE_SUMMARY.txt.knowtator.xml": "\0"}
        ),
        "Task1TestSetCorpus100.zip": zipped(
            {f"ALLREPORTS/{id}.txt": text for id, (text, _) in test.items()} | unannotated
        ),
        "Task1Gold_SN2012.tar.bz2": tarred({f"Gold_SN2012/{id}.txt": pipes(id, note[1]) for id, note in test.items()}),
        "Task1Gold_SN2011.tar.bz2": tarred({f"Gold_SN2011/{id}.txt": pipes(id, [[(0, 1)]]) for id in test}),
        "Task2TrainSetGOLD.zip": zipped({f"{ECHO}.txt.knowtator.xml": "<annotations/>"}),
    }


def as_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{ROOT}/{name}", content)
    return path


def as_folder(path: Path, files: Mapping[str, bytes]) -> Path:
    """The archives unpacked, each into a folder of its name."""
    for name, content in files.items():
        target = path / name.split(".")[0]
        if name.endswith(".zip"):
            zipfile.ZipFile(io.BytesIO(content)).extractall(target)
        else:
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 has it
                archive.extractall(target)
    return path


def build(source: Path, ledger: Ledger | None = None, name: str = "clef", sentences: str = "dai") -> Corpus:
    return recipe_named(name).build(source, {"sentences": sentences}, ledger or Ledger())


def mention_texts(document: Document) -> list[tuple[str, str]]:
    return [(entity.label, entity.text) for entity in document.entities]


def test_archives_in_an_archive_as_downloaded(tmp_path: Path) -> None:
    ledger = Ledger()
    corpus = build(as_zip(tmp_path / "share13.zip", archives()), ledger)
    assert [len(corpus[split]) for split in SPLITS] == [1, 19, 1]
    assert [document.id for document in corpus["dev"]] == list(DEV_IDS)
    (note,) = corpus["train"]
    assert note.id == TRAIN_NOTE
    assert mention_texts(note) == [
        ("Disorder", "left atrium dilated"),
        ("Disorder", "fever"),
        ("Disorder", "chills"),
    ]
    assert note.entities[0].kind is Kind.DISCONTINUOUS
    assert mention_texts(corpus["test"][0]) == [("Disorder", "Mitral valve thickened")]
    assert ledger.losses == {
        "duplicate annotations of a mention": 1,
        "notes without an annotation file": 1,
    }
    assert not ledger.repairs


def test_unpacked_gives_the_same(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "share13", archives())
    assert build(folder).splits == build(as_zip(tmp_path / "share13.zip", archives())).splits


def test_training_annotations_may_be_piped(tmp_path: Path) -> None:
    files = archives()
    packed = build(as_zip(tmp_path / "a.zip", files))
    del files["Task1TrainSetGOLD199knowtatorehost.zip"]
    folder = "CLEFPIPEDELIMITED NoDuplicates 3:7:2013"
    files["Task1TrainSetGOLD199pipe.zip"] = zipped(
        {f"{folder}/{id}.pipe.txt": pipes(id, note[1]) for id, note in ANNOTATED.items()}
    )
    assert build(as_zip(tmp_path / "b.zip", files)).splits == packed.splits


def test_a_note_without_disorders_may_have_an_empty_gold_file(tmp_path: Path) -> None:
    corpus = build(as_zip(tmp_path / "a.zip", archives(test={**TESTED, "00177-1-ECG_REPORT": ("Normal.\n", [])})))
    assert [(document.id, len(document.entities)) for document in corpus["test"]] == [
        (ECHO, 1),
        ("00177-1-ECG_REPORT", 0),
    ]


def test_fragments_that_only_a_line_break_parts_are_one_and_cut_words_are_completed(tmp_path: Path) -> None:
    text = "ABSCESS RT\nFLANK pain\n"
    train = {**ANNOTATED, TRAIN_NOTE: (text, [[(0, 10), (11, 16)], [(17, 20)]])}
    ledger = Ledger()
    (note,) = build(as_zip(tmp_path / "a.zip", archives(train)), ledger)["train"]
    assert [entity.text for entity in note.entities] == ["ABSCESS RT\nFLANK", "pain"]
    assert ledger.repairs == {"fragments split at whitespace": 1, "mentions expanded to word boundaries": 1}


def test_sentences_as_dai_has_them() -> None:
    long = "word " * 28 + "ends. Next one e.g. this! And last"
    text = f"\n\n a. B \n\n\n{long}\n{long}\n"
    found = [text[start:end] for start, end in dai(text)]
    assert found == ["a. B", long, "word " * 28 + "ends.", "Next one e.g. this!", "And last"]


def test_the_sentence_splitter_can_be_chosen(tmp_path: Path) -> None:
    source = as_zip(tmp_path / "a.zip", archives({**ANNOTATED, TRAIN_NOTE: ("No fever. No pain.\n", [])}))
    assert [len(build(source, sentences=name)["train"][0].sentences or ()) for name in ("dai", "rules")] == [1, 2]


BAD_GOLD = [
    ("bad-syntax", f"{ECHO}.txt||Finding||C1||0||6\n"),
    ("bad-syntax", f"{ECHO}.txt||Disease_Disorder||C1||0\n"),
    ("bad-syntax", f"{ECHO}.txt||Disease_Disorder\n"),
    ("bad-syntax", "00177-102920-ECHO_REPORT.txt||Disease_Disorder||C1||0||6\n"),
    ("bad-offset", f"{ECHO}.txt||Disease_Disorder||C1||0||600\n"),
]


@pytest.mark.parametrize(("problem", "line"), BAD_GOLD)
def test_bad_lines_are_named_with_file_and_line(tmp_path: Path, problem: str, line: str) -> None:
    files = archives()
    files["Task1Gold_SN2012.tar.bz2"] = tarred({f"Gold_SN2012/{ECHO}.txt": pipes(ECHO, [[(0, 6)]]) + line})
    with pytest.raises(BadInput, match=rf"Gold_SN2012/{ECHO}\.txt, line 2") as caught:
        build(as_zip(tmp_path / "a.zip", files))
    assert caught.value.problem == problem


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        ("Task1TrainSetGOLD199knowtatorehost.zip", "no annotations of the training set"),
        ("Task1Gold_SN2012.tar.bz2", "no annotations of the test set"),
        ("Task1TrainSetCorpus199.zip", "The text of an annotated note is missing"),
    ],
)
def test_a_missing_archive_says_what_source_should_be(tmp_path: Path, archive: str, message: str) -> None:
    files = archives()
    del files[archive]
    with pytest.raises(DisconerError, match=f"{message}.*Task1TrainSetGOLD199knowtatorehost"):
        build(as_zip(tmp_path / "a.zip", files))


def test_a_missing_development_note(tmp_path: Path) -> None:
    train = {id: note for id, note in ANNOTATED.items() if id != DEV_IDS[3]}
    with pytest.raises(BadInput, match=f"{DEV_IDS[3]}.*development split is missing"):
        build(as_zip(tmp_path / "a.zip", archives(train)))


def test_a_damaged_archive(tmp_path: Path) -> None:
    files = archives()
    files["Task1TestSetCorpus100.zip"] = files["Task1TestSetCorpus100.zip"][:-30]
    with pytest.raises(BadInput, match=r"Task1TestSetCorpus100\.zip: This archive is damaged or incomplete"):
        build(as_zip(tmp_path / "a.zip", files))


NEW = "00381-006281"
NEW_TEXT = "Pupils are equal, round and dilated. No pain.\n"


def semeval(path: Path, name: str, annotations: str, note: str = NEW_TEXT) -> Path:
    """Beside the archives of 2013, notes of SemEval: one that is new, one that 2013 has already."""
    path.mkdir()
    for archive, content in archives().items():
        (path / archive).write_bytes(content)
    target = path / "semeval-2014-task-7" / "devel"
    target.mkdir(parents=True)
    for id, text, lines in ((name, note, annotations), (ECHO, TESTED[ECHO][0], pipes(ECHO, TESTED[ECHO][1]))):
        (target / f"{id}.text").write_text(text)
        (target / f"{id}.pipe").write_text(lines)
    return path


@pytest.mark.parametrize(
    ("name", "annotations"),
    [
        (f"{NEW}-DISCHARGE_SUMMARY", pipes(f"{NEW}-DISCHARGE_SUMMARY", [[(0, 6), (28, 35)], [(40, 44)]])),
        (NEW, f"{NEW}.text|0-6,28-35|C0|no|*NULL\n{NEW}.text|40-44|CUI-less|yes|37-39\n"),
    ],
)
def test_clef_dis_keeps_sentences_with_discontinuous_entities(tmp_path: Path, name: str, annotations: str) -> None:
    corpus = build(semeval(tmp_path / "both", name, annotations), name="clef-dis", sentences="rules")
    assert [len(corpus[split]) for split in SPLITS] == [1, 1, 1]
    (sentence,) = corpus["test"]
    assert sentence.id == f"{name}.0"
    assert sentence.text == "Pupils are equal, round and dilated."
    assert mention_texts(sentence) == [("Disorder", "Pupils dilated")]
    assert sentence.extras == {"clef-dis": {"note": name, "start": 0}}
    assert corpus["dev"][0].text == "Mitral valve leaflets are thickened."


def test_clef_dis_moves_offsets_into_the_sentence(tmp_path: Path) -> None:
    text = "Seen today.\nPupils are round and dilated.\nNo pain.\n"
    mentions = spans(text, "Pupils … dilated", "round", "Seen … pain")
    ledger = Ledger()
    source = semeval(tmp_path / "both", NEW, pipes(NEW, mentions), text)
    (sentence,) = build(source, ledger, "clef-dis")["test"]
    assert sentence.text == "Pupils are round and dilated."
    assert [entity.fragments for entity in sentence.entities] == [((0, 6), (21, 28)), ((11, 16),)]
    (only,) = sentence.sentences or ()
    assert [sentence.text[start:end] for start, end in only.tokens][-2:] == ["dilated", "."]
    assert sentence.extras == {"clef-dis": {"note": NEW, "start": 12}}
    assert ledger.losses["entities that cross sentences"] == 1


def test_clef_dis_without_new_notes(tmp_path: Path) -> None:
    source = semeval(tmp_path / "both", ECHO, pipes(ECHO, []))
    with pytest.raises(DisconerError, match=r"None of the 1 notes of a later release is new.*SemEval-2015 task 14"):
        build(source, name="clef-dis")


def test_clef_dis_takes_the_new_notes_of_share_clef_2014(tmp_path: Path) -> None:
    files = archives()
    new = f"{NEW}-DISCHARGE_SUMMARY"
    files["2014ShAReCLEFeHealthTasks2_training_10Jan2014.zip"] = zipped(
        {
            f"2014ShAReCLEFeHealthTask2_training_corpus/{ECHO}.txt": TESTED[ECHO][0],
            f"2014ShAReCLEFeHealthTask2_training_pipedelimited/{ECHO}.pipe.txt": f"{ECHO}.txt|0-12,26-35|C0\n",
        }
    )
    files["ShAReCLEFeHealth2014Task2_test_default_values.zip"] = zipped({f"test_data_corpus/{new}.txt": NEW_TEXT})
    files["ShAReCLEFeHealth2014_test_data_gold.zip"] = zipped({f"gold/{new}.pipe.txt": f"{new}.txt|0-6,28-35|C0\n"})
    corpus = build(as_zip(tmp_path / "both.zip", files), name="clef-dis", sentences="rules")
    assert [[sentence.extras["clef-dis"]["note"] for sentence in corpus[split]] for split in SPLITS] == [
        [TRAIN_NOTE],
        [ECHO],
        [new],
    ]
