from __future__ import annotations

import io
from xml.etree.ElementTree import fromstring, tostring

import pytest

from disconer.core.errors import BadInput
from disconer.formats.xml import MAX_DEPTH, iter_xml, parse_xml

LAUGHS = b"""<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY lol "lol">
 <!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
]>
<lolz>&lol2;</lolz>"""

BAD = {
    "billion laughs": (LAUGHS, "unsafe-xml", 3),
    "external entity": (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "unsafe-xml", 1),
    "parameter entity": (b'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://localhost/">%x;]><a/>', "unsafe-xml", 1),
    "unparsed entity": (b'<!DOCTYPE a [<!NOTATION n SYSTEM "n"><!ENTITY x SYSTEM "f" NDATA n>]><a/>', "unsafe-xml", 1),
    "entity of a DTD": (b'<!DOCTYPE a SYSTEM "a.dtd">\n<a>caf&eacute;</a>', "bad-syntax", 2),
    "unknown entity": (b"<a>\n\n&eacute;</a>", "bad-syntax", 3),
    "crossing tags": (b"<a>\n<b></a></b>", "bad-syntax", 2),
    "junk behind the root": (b"<a/>\n<b/>", "bad-syntax", 2),
    "control character": (b"<a>\x01</a>", "bad-syntax", 1),
    "too deep": (b"<a>" * (MAX_DEPTH + 1), "bad-syntax", 1),
    "much too deep": (b"<a>" * 200_000 + b"</a>" * 200_000, "bad-syntax", 1),
    "nothing": (b"", "truncated", 1),
    "not XML": (b"some text", "bad-syntax", 1),
    "open element": (b"<a>\n<b>text", "truncated", 2),
    "open tag": (b"<a>\n<b", "truncated", 2),
    "open CDATA": (b"<a>\n<![CDATA[x", "truncated", 2),
    "open comment": (b"<a>\n<!-- x", "truncated", 2),
    "half a character": ("<a>é".encode()[:-1], "truncated", 1),
    "broken UTF-8": (b"<a>ok\n\xff</a>", "bad-encoding", 2),
    "no such encoding": (b'<?xml version="1.0" encoding="klingon"?><a/>', "bad-encoding", 1),
}


@pytest.mark.parametrize(("data", "problem", "line"), BAD.values(), ids=BAD.keys())
def test_bad_xml_is_refused_with_its_line(data: bytes, problem: str, line: int) -> None:
    with pytest.raises(BadInput, match=rf"^a\.xml, line {line}: ") as caught:
        parse_xml(data, "a.xml")
    assert caught.value.problem == problem
    with pytest.raises(BadInput) as caught:
        list(iter_xml(io.BytesIO(data), {"b"}, "a.xml"))
    assert caught.value.problem == problem


GOOD = [
    '<?xml version="1.0"?><!DOCTYPE set SYSTEM "nowhere.dtd"><set>a<b x="1">&lt;é</b>c</set>',
    "<!DOCTYPE set [<!ELEMENT set (#PCDATA)>]><set>line\nline&#13;\n<![CDATA[<raw>]]></set>",
    '<n:set xmlns:n="urn:n" n:x="1" y="2"><n:b/><!-- c --></n:set>',
]


@pytest.mark.parametrize("text", GOOD)
def test_parses_as_the_standard_library_does(text: str) -> None:
    assert tostring(parse_xml(text.encode(), "a.xml")) == tostring(fromstring(text))


def test_a_declared_encoding_is_obeyed() -> None:
    assert parse_xml('<?xml version="1.0" encoding="latin-1"?><a>é</a>'.encode("latin-1"), "a.xml").text == "é"
    assert parse_xml('<?xml version="1.0" encoding="utf-16"?><a>é😀</a>'.encode("utf-16"), "a.xml").text == "é😀"


def test_iteration_gives_outermost_elements_with_lines_and_keeps_none() -> None:
    text = "<set>\n<name>n</name>\n<item>1<item>2</item></item>\n" + "<item/>" * 30_000 + "</set>"
    found = list(iter_xml(io.BytesIO(text.encode()), {"name", "item"}, "a.xml"))
    assert [(line, tostring(element)) for line, element in found[:2]] == [
        (2, b"<name>n</name>"),
        (3, b"<item>1<item>2</item></item>"),
    ]
    assert len(found) == 30_002


def test_elements_before_a_break_are_still_given() -> None:
    elements = iter_xml(io.BytesIO(b"<set><item>1</item>" + b" " * 2**17 + b"<item>"), {"item"}, "a.xml")
    assert next(elements)[1].text == "1"
    with pytest.raises(BadInput, match="ends too early"):
        next(elements)


def test_elements_come_one_by_one_while_the_file_is_read() -> None:
    stream = io.BytesIO(b"<set>" + b"<item>1</item>" * 100_000 + b"</set>")
    next(iter_xml(stream, {"item"}, "a.xml"))
    assert 0 < stream.tell() < 100_000
