"""Where the splitters end sentences: each case, and each note in `notes`, has | where a sentence ends or begins."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest

from disconer import Document, read
from disconer.core.sentence import Token
from disconer.text import SPLITTERS, TOKENIZERS, segment

STOPS = {
    "two short sentences": "No AS.| No AR.",
    "doses": "Aspirin 81 mg p.o. b.i.d. for pain.| Then q.d. or p.r.n. as needed.",
    "dose ends before a capital": "Take 1 tab. p.o. q.i.d.| Return if worse.",
    "unit before lower case": "Given 5 mg. daily.| Given 5 mg.| Stable.",
    "value after an abbreviation": "Temp. 98.6, Resp. 18, O2 sat. 98%.| Wt. 70 kg.",
    "no as a word, no as a number": "Smoker? |No.| Lot No. 3 was used.",
    "titles": "Seen by Dr. Smith and Mrs. Jones.| Prof. Lee agreed.",
    "milliseconds are no lady": "It lasted 500 ms.| Ms. Jones left.",
    "decimal numbers": "K was 4.5 and p < 0.05.| Na 138.| Cl 100.",
    "species": "E. coli and S. aureus grew.| Anti-E. coli serum did not.",
    "citation": "As Smith et al. (2004) and Lee et al. 1998 say.| Cells et al.| The rest.",
    "figures": "See Fig. 3 and Figs. 4, 5 (ref. 12).| Eq. 2 holds.",
    "examples": "Drugs, e.g. Aspirin, i.e. five vs. Placebo, approx. Half.",
    "initials": "Given by J. B. Smith and to F. Jones.| John F. Kennedy.",
    "letter at the end": "He took vitamin C.| Patients improved on factor VIII.| He had hepatitis B.| The end.",
    "letters that name kinds": "Vitamin C.| Vitamin D.| Vitamin E. are low.| Type I.| Type II diabetes.| Ann J. Smith.",
    "joined letter at the end": "We saw NF-Y.| Binding was at 4 °C.| Cells grew for 24 h.| Results follow.",
    "country": "The U.S. Army is of the U.S.| The end.",
    "genes": "It binds IL-2.| p53 rose.| c-fos fell.| mRNA did not.",
    "lower case after a word": "i felt awful.| then i stopped.",
    "shorthand without vowels": "Hx. of MI, pts. with wks. of pain.",
    "ellipsis": "It hurt... then stopped.| It hurt...| Then came back…| Gone.",
    "questions": "Any pain?| None!| CXR: ? pneumonia or ? Edema.",
    "question in brackets": "It (really?) hurts.",
    "quotes and brackets": 'He said "no."| Then (as told.)| (Not so.)| End.',
    "citation after the stop": "It was shown.[1,2]| It was known [3].| Yes.",
    "number at the start": "It was seen.| 20 patients left.",
    "forgotten space": "severe pain.|The patient left.|I slept.",
    "not a forgotten space": "In Nat.Genet, at http://www.foo.Bar, or a@some.Place, x.",
    "addresses": "See http://a.b/c.d?e=f.| Next.",
    "numbered in a line": "It has parts: 1. Heart; 2. lung; 3. liver.",
    "sign goes on": "Values (n = 3.) , etc. = 5.",
    "stop by itself": "The cells grew .| Then they died .",
    "wide stops": "他很好。|她也是！|是吗？|好",
    "number of": "The no. of lesions was 3.| No.| Of these, two grew.",
    "aside in lower case": "Seen at screening. (e.g. a scan.) |Then not.| (Not at all.)",
    "capitals only": "GIVEN 10 MG I.V. AND SENT HOME.| HE SLEPT.",
    "header in a line": "ALLERGIES: None.| HISTORY OF PRESENT ILLNESS: The patient is ill.",
}

LINES = {
    "blank line": "Title\n\n|text goes on\n \t \n|and on",
    "list": "1. Aspirin\n|2. Plavix 75 mg\n|- fever\n|* chills\n|a) rash\n|(b) itch\n|iv. pain",
    "short items": "- severe cardiac or\n  renal insufficiency\n|a. Mild hepatic\n   impairment",
    "short items with a list below": "1. Vital signs\n   |pressure 120/80\n   |pulse 80\n|2. Drugs:\n   |aspirin",
    "lines are units": "pain in legs\n|cramps at night\n|can't sleep",
    "unfinished line": "adult patients aged 55 years with\na hip fracture\n|seen by Dr.\nSmith",
    "values by key": "BP: 120/80\n|HR: 70\n|Date of admission: 3 May",
    "table": "sodium   138   mmol/L\n|potassium   4.1   mmol/L",
    "items with lines of their own": "- clinically significant disease of the heart or of\n  the lungs\n|- asthma",
    "headers": "HISTORY OF PRESENT ILLNESS:\n|The patient is ill.\n|Allergies:\n|none\n|MEDICATIONS: aspirin",
    "bullets within a line": "Excluded: |• renal or hepatic failure |•\tstroke  |▪ age < 18 - 20\n|◦ NO• or •OH",
    "three short lines of a sentence": "Complains of burning pain in one\nleg, numbness of both feet, bad\nsleep.",
    "three short lines that are three": "Severe pain in both of my knees\n|could not sleep\n|stopped taking it.",
    "line ends of every kind": "\ufeffa\r\n|b\r|c\u2028|d\x85|e\u2029|f\f|g\v|h",
}

# As clinical notes come: lines broken to fit, headers, lists, masked names.
NOTES = {
    "broken to fit": """\
|The patient is a 43-year-old female with a history of coronary artery disease who
presents with chest pain.| She was seen by her primary care physician, a certain Dr.
Smith, and was given aspirin 81 mg p.o. b.i.d. and sublingual nitroglycerin, with
relief.|
|ALLERGIES: No known drug allergies, and no history of adverse reactions to dyes or
food.|
|MEDICATIONS:|
|1. Aspirin 81 mg p.o. q.d.|
|2. Atorvastatin 40 mg p.o. q.h.s., which she says that she has not been taking for
some weeks|
|3. Lisinopril|
|PLAN|
|Home.""",
    "a list after full lines": """\
|Her problems as of today, and as far as anybody here was able to tell, are at least
the following, which we shall deal with one by one in the order of their urgency:|
|- chest pain|
|1. Coronary artery disease after a bypass in 2004 with grafts to three vessels and no
pain since|
|2. Hypertension, for which she was given much, all of it in vain, as far as I can see|
|Social history: The patient smokes.""",
    "a letter that is no list item": """\
|The family knows little about her past beyond that somebody found in some hospital
or other that she was suffering from what nobody ever treated, namely from hepatitis
B.| The titre was low.""",
    "masked names and tabs": """\
\t|Mr. [**Known lastname 1234**] was admitted to [**Hospital1 18**] with fever and
\tchills.| He improved on the second day of treatment with intravenous antibiotics
\tand was discharged.|
\t|Follow up:|
\t|with PCP""",
}


def marked(text: str, sentences: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in sentences]


@pytest.mark.parametrize("case", [*STOPS.values(), *LINES.values(), *NOTES.values()], ids=[*STOPS, *LINES, *NOTES])
def test_rules(case: str) -> None:
    expected = [part.strip() for part in case.split("|") if part.strip()]
    text = case.replace("|", "")
    assert marked(text, SPLITTERS["rules"](text)) == expected


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "notes").glob("*.txt")), ids=lambda path: path.stem)
def test_rules_on_notes(path: Path) -> None:
    test_rules(path.read_text(encoding="utf-8"))


PROSE = (
    "The patient was brought in by ambulance after she was found on the floor of her apartment. She could not say how "
    "long she had been lying there, or why. On arrival she was confused, dehydrated and hypothermic, with pressure "
    "sores over the sacrum and both heels. CK was 12,400 U/L. She was warmed, given 3 L of saline, and seen by Dr. Lee."
)


@pytest.mark.parametrize("width", range(40, 121))
def test_a_paragraph_has_the_same_sentences_at_any_width(width: int) -> None:
    """Line breaks take the place of spaces, so offsets stay."""
    assert SPLITTERS["rules"](textwrap.fill(PROSE, width)) == SPLITTERS["rules"](PROSE)
    assert len(SPLITTERS["rules"](PROSE)) == 5


def test_a_width_is_that_of_its_paragraph() -> None:
    """Neither long lines nor lists elsewhere in the text change how a wrapped paragraph is read."""
    parts = [PROSE, textwrap.fill(PROSE, 60), "cough\nrash\nno pain at rest", textwrap.fill(PROSE, 90)]
    text = "\n\n".join(parts)
    assert len(SPLITTERS["rules"](text)) == 5 + 5 + 3 + 5


WORDS = {
    "B12, 5mg/d": ["B", "12", ",", "5", "mg", "/", "d"],
    "me\u0301tformine": ["me\u0301tformine"],
    "Hy\u00adper\u00adten\u00adsion, IL\u20602": ["Hy\u00adper\u00adten\u00adsion", ",", "IL\u2060", "2"],
    "\ufeffpain\u200b pa\u200bin,\u200e 5\u00ad mg\u202c": ["pain", "pa", "in", ",", "5", "mg"],  # no width, no word
    "\u0301 5\u0301": ["\u0301", "5", "\u0301"],  # on no letter
    "pain.... yes": ["pain", "....", "yes"],
    "pain... >> ??": ["pain", ".", ".", ".", ">", ">", "?", "?"],
    "-----=====_____": ["-----", "=====", "_____"],
    "a++++b": ["a", "++++", "b"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text: str) -> None:
    assert [text[start:end] for start, end in TOKENIZERS["words"](text, 0, len(text))] == WORDS[text]


def test_tokens_of_another_tokenizer_are_checked() -> None:
    with pytest.raises(ValueError, match="oken"):
        segment(Document("d", "no pain"), tokenizer=lambda text, start, end: (Token(3, 7), Token(0, 2)))


def test_lines() -> None:
    text = "\ufeffNo AS. No AR.\r\n \t \n  b\u2028c \r\r"
    assert marked(text, SPLITTERS["lines"](text)) == ["\ufeffNo AS. No AR.", "b\u2028c"]


@pytest.mark.parametrize(
    "unit",
    [
        *(".", "a", "a.", ". ", ".)", ".[1", '.)"]', "A. ", "aaa.A", "\n", " ", "?! ", "1. ", "e.g."),
        *(
            "a\n",
            "a of\n",
            "- a\n",
            "  a\n",
            "A:\n",
            "A b ",
            "A",
            "a, ",
            "a,\n",
            "a   b\n",
            "a \t",
            "(a\n\n",
            "A\nb c.\n",
            "• a ",
            " •  ",
        ),
    ],
)
def test_time_grows_with_length_only(unit: str) -> None:
    half = unit * (50_000 // len(unit))
    start = time.process_time()
    SPLITTERS["rules"](f"{half}\n{half}")
    assert time.process_time() - start < 2  # a quadratic pattern takes minutes


def test_finds_the_sentences_of_articles(data: Path) -> None:
    right = found = gold = 0
    for document in read(data / "craft" / "dev.jsonl.gz"):
        ends = {end for _, end in SPLITTERS["rules"](document.text)}
        true = {sentence.end for sentence in document.sentences}
        right, found, gold = right + len(ends & true), found + len(ends), gold + len(true)
    assert 2 * right / (found + gold) > 0.995
