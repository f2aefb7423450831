"""Which full stops, question marks and exclamation marks end a sentence, and the abbreviations that do not.

A word with stops inside (p.o., b.i.d., U.S.) needs no entry: its shape is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


def words(*groups: str) -> frozenset[str]:
    """The words of all groups."""
    return frozenset(word for group in groups for word in group.split())


# Something always follows these: a name, a number, an example. Even a capital after them begins no new sentence.
NEVER_LAST = words(
    "dr drs mr mrs Ms mx prof st mt ph",  # before names and degrees; "ms" is milliseconds
    "fig figs eq eqs ref refs suppl",  # pointers
    "vs cf c.f viz e.g i.e z.b d.h eg ie approx ca esp incl",  # comparisons and examples
    "sp spp subsp ssp",  # taxonomy
    "acad biol natl proc biochem biophys immunol virol genet physiol engl ann",  # journals in running text
)

# Before a number they are abbreviations ("No. 3", "Temp. 98.6"); else they are words or may end a sentence ("No.").
BEFORE_NUMBER = words(
    "no nos nr vol p pp ch chap sect art chr ver cat lot ext tel app exp",  # numbering
    "temp t resp wt ht hct hgb plt wbc sat",  # vital signs, laboratory values
    "jan feb mar apr jun jul aug sep sept oct nov dec",  # days of months
)

# They end a sentence only before a capital ("5 mg. The", but "5 mg. daily").
MAY_END = words(
    "al jr sr inc corp ltd co dept univ hosp assoc sci chem med mol clin int",  # people, firms, journals
    "etc resp",  # lists
    "tab tabs cap caps susp soln inj supp oint amp gtt gtts conc dil max min amt",  # doses
    "hr hrs wk wks yr yrs mo mos sec secs mg mcg ml kg cm mm",  # units
    "hx dx tx rx fx sx pt pts meds abd ext neuro prn",  # notes in a hurry
)

# After a letter or letters with stops ("hepatitis C.", "the U.S.") these begin a new sentence. Other words with a
# capital may be the name that an initial belongs to ("J. Smith").
STARTERS = words(
    "a an the this that these those some such each both all another most one two three no none not",
    "i he she it we you they my his her its our your here there",
    "after although and as at because but by during following for from furthermore how however if in moreover of on",
    "similarly since then therefore thus to under until upon were what when where whereas which while with",
    "patient patients results",
)

# In a text all in capitals, these go on after "I.V." or "B.I.D.".
CONNECTIVES = words("and as at by for from if in of on or to until when with x")

# A letter after one of these is an initial ("by J. Smith"); after another word it is not ("vitamin C.").
BEFORE_NAMES = words("and by for from of thank thanks the to with")

# Nor is it after these, also where they begin the sentence: "Vitamin C.", "Type I.".
LETTERED = words("vitamin vitamins hepatitis influenza type types class grade stage factor")


_MARKS = ".!?…"
_CLOSERS = r"\"'”’»)\]}"
_OPENERS = "\"'“‘«([{"

# A run of stops with what closes after it ('."', '.)', '.[12]'), then whitespace. The look-behind lets a run match
# from its first mark only, and `++` gives nothing back: 100,000 dots take one pass.
_SPACED = rf"(?<![{_MARKS}])[{_MARKS}]++[{_CLOSERS}]*+(?:\[\d[\d,–-]*+\])?(?=\s)"
# A forgotten space ("…pain.The patient"), only between a lower-case word and a capitalised one: not "Nat.Genet.".
_UNSPACED = r"(?<=[a-z]{2}[a-z)\]])[.?!](?=[A-Z][a-z]+[\s,]|I\s|A\s)"
# The stops of Chinese and Japanese need no space.
_WIDE = rf"[。！？｡]++[{_CLOSERS}」』]*+"
_STOP = re.compile(f"{_SPACED}|{_UNSPACED}|{_WIDE}")
_MARK = re.compile(f"[{_MARKS}。！？｡]")  # what each of them begins with

_REACH = 24  # characters looked at before a stop: a longer word is not an abbreviation
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:\.[^\W\d_]+)*\Z")
_NEXT = re.compile(rf"\s*[{re.escape(_OPENERS)}]*(\w{{0,{_REACH}}}\.?)")  # its stop too: "A." is not "A"
_FIRST_MARKER = re.compile(r"\s*[(\[]?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{1,4})\Z")
_LATER_MARKER = re.compile(r"[;:]\s+\d{1,2}\Z")
_ADDRESS = re.compile(r"(?:://|www\.|@)\S*\Z")
_GOES_ON = frozenset(",;:)]}=±<>/%&≤≥×")
_VOWELS = frozenset("aeiouy")


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets within text[start:end] at which a sentence ends, in order; the end itself is not among them."""
    mark = _MARK.search(text, start, end)  # most lines have none, or one at their end
    if mark is None or mark.start() == end - 1:
        return
    for stop in _STOP.finditer(text, mark.start(), end):
        if _ends_sentence(text, start, end, stop):
            start = stop.end()
            yield start


def _ends_sentence(text: str, start: int, end: int, stop: re.Match[str]) -> bool:
    """Whether `stop` ends the sentence that began at `start`."""
    at, marks = stop.start(), stop.group()
    following = _NEXT.match(text, stop.end(), end)
    assert following is not None  # every part of the pattern may be empty
    next_at, next_word = following.start(1), following.group(1)
    if next_at >= end or text[next_at] in _GOES_ON:
        return False
    if text[next_at - 1] in "([" and next_word[:1].islower():
        return False  # "… at screening. (e.g. a scan)"
    before = text[max(start, at - _REACH) : at]
    if marks[0] in "!?":
        return _question_ends(before, marks, next_word)
    if marks[0] == "…" or marks.startswith(".."):
        return next_word[:1].isupper()
    if marks[0] != ".":
        return True
    if (at - start < _REACH and _FIRST_MARKER.match(before)) or _LATER_MARKER.search(before):
        return False  # "1. Aspirin; 2. Plavix": a list item's number
    if stop.end() == next_at and _ADDRESS.search(before):
        return False
    return _full_stop_ends(before, marks, next_word)


def _question_ends(before: str, marks: str, next_word: str) -> bool:
    """Not the clinician's "? pneumonia", nor a quoted question that the sentence goes on after."""
    queried = not before or before[-1].isspace()
    return not queried and not (len(marks) > 1 and next_word[:1].islower())


def _full_stop_ends(before: str, marks: str, next_word: str) -> bool:
    found = _WORD.search(before)
    word = found.group() if found else ""
    key = word.lower()
    next_is_capital = next_word[:1].isupper()
    if key in NEVER_LAST or word in NEVER_LAST:
        return False
    if key in BEFORE_NUMBER and (any(map(str.isdigit, next_word)) or (key == "no" and next_word == "of")):
        return False
    if not next_is_capital and (len(word) == 1 or key in MAY_END or _is_dotted(word)):
        return False  # "E. coli", "5 mg. daily", "p.o. daily", "et al. (2004)"
    if _is_dotted(word) and next_word.isupper() and next_word.lower() in CONNECTIVES:
        return False
    if next_word[:1].islower():
        return len(marks) == 1 and not _lacks_vowels(word)
    if len(word) == 1 or (_is_dotted(word) and word.isupper()):
        return next_word.lower() in STARTERS or not _is_initial(before, word)
    return True


def _is_dotted(word: str) -> bool:
    """p.o, b.i.d, Ph.D, U.S; not the two sentences of "pain.then"."""
    return "." in word and all(len(part) <= 2 for part in word.split("."))


def _lacks_vowels(word: str) -> bool:
    """hx, pts, wks: abbreviated even where no table has it. Acronyms ("the DNA. …") stay words."""
    return word.islower() and _VOWELS.isdisjoint(word)


def _is_initial(before: str, letter: str) -> bool:
    """Whether a letter, or letters with stops, abbreviates a name ("by J. Smith", "U.S. Army"), unlike "vitamin C."."""
    lead = before[: -len(letter)]
    if lead and not lead[-1].isspace():
        return lead[-1] in _OPENERS  # "NF-Y.", "4 °C."
    previous = lead.split()[-1:]
    if not previous:
        return True
    if len(letter) == 1 and previous[0].lower() in LETTERED:
        return False
    return len(letter) > 1 or previous[0].istitle() or previous[0][-1] in ",;:." or previous[0] in BEFORE_NAMES
