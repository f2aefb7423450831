"""What the sentence rules know of words: abbreviations, without their stop, and words around initials.

A word with stops inside (p.o., b.i.d., U.S.) needs no entry: its shape tells.
"""

from __future__ import annotations


def _words(*groups: str) -> frozenset[str]:
    return frozenset(word for group in groups for word in group.split())


# Something always follows: a name, a number, an example. Not even a capital after them is a new sentence.
NEVER_LAST = _words(
    "dr drs mr mrs Ms mx prof st mt ph",  # before names and degrees; "ms" is milliseconds
    "fig figs eq eqs ref refs suppl",  # pointers
    "vs cf viz e.g i.e eg ie approx ca esp incl",  # comparisons and examples
    "sp spp subsp ssp",  # taxonomy
    "acad biol natl proc biochem biophys immunol virol genet physiol engl ann",  # journals in running text
)

# Before a number they are abbreviations ("No. 3", "Temp. 98.6"); else they are words or may end a sentence ("No.").
BEFORE_NUMBER = _words(
    "no nos nr vol p pp ch chap sect art chr ver cat lot ext tel app exp",  # numbering
    "temp t resp wt ht hct hgb plt wbc sat",  # vital signs, laboratory values
    "jan feb mar apr jun jul aug sep sept oct nov dec",  # days of months
)

# They end a sentence only before a capital ("5 mg. The", but "5 mg. daily").
MAY_END = _words(
    "al jr sr inc corp ltd co dept univ hosp assoc sci chem med mol clin int",  # people, firms, journals
    "etc resp",  # lists
    "tab tabs cap caps susp soln inj supp oint amp gtt gtts conc dil max min amt",  # doses
    "hr hrs wk wks yr yrs mo mos sec secs mg mcg ml kg cm mm",  # units
    "hx dx tx rx fx sx pt pts meds abd ext neuro prn",  # notes in a hurry
)

# After a letter or letters with stops ("hepatitis C.", "the U.S.") these begin a new sentence. Other words with a
# capital may be the name that an initial belongs to ("J. Smith").
STARTERS = _words(
    "a an the this that these those some such each both all another most one two three no none not",
    "i he she it we you they my his her its our your here there",
    "after although and as at because but by during following for from furthermore how however if in moreover of on",
    "similarly since then therefore thus to under until upon were what when where whereas which while with",
    "patient patients results",
)

# A letter after one of these is an initial ("by J. Smith"); after another word it is not ("vitamin C.").
BEFORE_NAMES = _words("and by for from of thank thanks the to with")
