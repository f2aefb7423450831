"""`disconer formats`: which formats there are, those of other packages included."""

from __future__ import annotations

from disconer.formats import Format, all_formats


def table(formats: list[Format]) -> str:
    """One line per format: its name, whether it can be written, what it is, and what it can hold."""
    rows = [(format.name, _can(format), f"{format.about}. Holds: {format.holds}.") for format in formats]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:{widths[0]}}  {can:{widths[1]}}  {about}" for name, can, about in rows)


def _can(format: Format) -> str:
    return ", ".join(["read"] * format.is_readable + ["write"] * (format.write is not None))


def formats_cli() -> None:
    """List the formats that can be read and written, with what each can hold."""
    print(table(list(all_formats())))
