"""Copy a trained pipeline into the installable package next to this folder.

python package.py OUT/model-best parsers/en_disconer_biomedical
"""

import json
import shutil
import sys
from pathlib import Path

import spacy

LANGUAGE, NAME, VERSION = "en", "disconer_biomedical", "1.0.0"
ABOUT = {
    "lang": LANGUAGE,
    "name": NAME,
    "version": VERSION,
    "spacy_version": ">=3.8.0,<3.9.0",
    "description": "Dependency parser for biomedical English: spaCy's small parser, tuned on CRAFT's gold trees",
    "author": "the authors of disconer",
    "email": "",
    "url": "",
    "license": "MIT",
    "sources": [
        {"name": "CRAFT 5.0.2", "license": "CC BY 3.0", "author": "University of Colorado"},
        {"name": "en_core_web_sm 3.8.0", "license": "MIT", "author": "Explosion"},
    ],
}
SCORES = ("dep_uas", "dep_las")  # on the development articles; the card has the test articles'


def package(trained: Path, target: Path) -> None:
    nlp = spacy.load(trained)
    measured = nlp.meta["performance"]
    nlp.meta.update(ABOUT)
    nlp.meta["performance"] = {name: measured[name] for name in SCORES}
    nlp.config["paths"].update(train=None, dev=None)  # paths of this machine

    module = target / f"{LANGUAGE}_{NAME}"
    pipeline = module / f"{LANGUAGE}_{NAME}-{VERSION}"
    shutil.rmtree(pipeline, ignore_errors=True)
    nlp.to_disk(pipeline)
    # Strings seen in training: spaCy collects them, but the parser needs only hashes.
    (pipeline / "vocab" / "strings.json").write_text(json.dumps(sorted(nlp.get_pipe("parser").labels)) + "\n")
    shutil.copy(pipeline / "meta.json", module / "meta.json")


if __name__ == "__main__":
    package(Path(sys.argv[1]), Path(sys.argv[2]))
