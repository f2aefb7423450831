"""UIMA's CAS and WebAnno's TSV, as INCEpTION and WebAnno read and write them: one document per file.

Both have no gaps. A continuous entity is a `NamedEntity` with its label as `value`, INCEpTION's own layer. A
discontinuous one is a span of the layer `webanno.custom.Discontinuous` on its first fragment, with the label as `value`
and a link feature `fragments` to a span of the layer `webanno.custom.Fragment` for each of the others. On reading, the
other ways of INCEpTION's users are understood, too (`layers`).

Offsets of both count UTF-16 units, and are converted.
"""
