"""A letter's HTML as a page of its own that a browser may show: how it looks is kept, and nothing in it does anything.

Mail clients want styles in attributes, and a Content-Security-Policy that allows those allows too much. So each style
becomes a class, and all classes stand in one element that the policy knows by its hash. Of everything else only what is
known to be harmless is written, whoever wrote the letter.
"""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from typing import Final

from msgspec import Struct

_LONGEST: Final = 20_000
"""Characters of HTML; our letters have a few hundred, and what reads endless ones takes its time."""
_DEEPEST: Final = 200
_KEPT: Final = frozenset({
    "a", "b", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p",
    "pre", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul",
})  # fmt: skip
"""Of the others only the content is kept, and of these not even that:"""
_GONE: Final = frozenset({
    "applet", "audio", "canvas", "embed", "frameset", "head", "iframe", "math", "noembed", "noframes", "noscript",
    "object", "script", "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
})  # fmt: skip
_VOID: Final = frozenset({"br", "hr"})
# No quotes, braces, comments, escapes or open brackets: nothing that could reach out of its rule.
_DECLARATION: Final = re.compile(r"\s*([a-z-]{2,40})\s*:((?:[\w\s#%.,/!+-]|\([\w\s#%.,/+-]*\))+)", re.ASCII)
_LOADS: Final = re.compile(r"url|image|src|expression|behavior|binding", re.IGNORECASE)
# As most mail programs do, on white; our letters say nothing of their background.
_PAPER: Final = "body{margin:8px;background:#fff;color:#000;overflow-wrap:anywhere}pre{white-space:pre-wrap}"


class LetterPage(Struct, frozen=True):
    """A page, and what its policy must call its style."""

    body: bytes
    style_hash: str


def page_of_html(written: str) -> LetterPage:
    """The page of a letter that is written in HTML, of whatever make."""
    reader = _Reader()
    try:
        reader.feed(written[:_LONGEST])
        reader.close()
    except AssertionError:
        # Python's parser gives up on some declarations, with all that stands behind them.
        reader.finish()
    return _page("".join(reader.written).strip(), reader.body_class, reader.classes)


def page_of_text(text: str) -> LetterPage:
    """The page of a letter that is plain text."""
    return _page(f"<pre>{escape(text)}</pre>", "", {})


def _page(content: str, body_class: str, classes: dict[str, str]) -> LetterPage:
    style = _PAPER + "".join(f".{name}{{{rules}}}" for rules, name in classes.items())
    page = (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="color-scheme" content="light">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Letter</title><style>{style}</style></head>\n<body{_class(body_class)}>{content}</body>\n</html>\n"
    )
    digest = b64encode(sha256(style.encode()).digest()).decode()
    # A lone surrogate, which no text in UTF-8 can hold, could come in by a numbered reference.
    return LetterPage(page.encode("utf-8", "replace"), f"sha256-{digest}")


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


class _Reader(HTMLParser):
    """Writes down anew what may stay of the HTML that it is fed, with every tag closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self.body_class = ""
        self.classes: dict[str, str] = {}
        """Rules, and the class that has them."""
        self._open: list[str] = []
        self._gone: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _GONE:
            self._gone.append(tag)
        if self._gone:
            # `body` ends a head that was left open, as it does in a browser.
            if tag != "body" or self._gone != ["head"]:
                return
            self._gone.clear()
        given = dict(attrs)
        name = self._class_of(given.get("style") or "")
        if tag == "body":
            self.body_class = name
        elif tag in _KEPT and len(self._open) < _DEEPEST:
            # A link leads nowhere from here, and says where it would have led.
            told = f' title="{escape(given["href"] or "")}"' if tag == "a" and given.get("href") else ""
            self.written.append(f"<{tag}{_class(name)}{told}>")
            if tag not in _VOID:
                self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # The slash means nothing in HTML, but in what is gone anyway it does.
        if tag not in _GONE:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._gone:
            if tag in self._gone:
                del self._gone[self._gone.index(tag) :]
        elif tag in self._open:
            while (last := self._open.pop()) != tag:
                self.written.append(f"</{last}>")
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._gone:
            self.written.append(escape(data, quote=False))

    def close(self) -> None:
        super().close()
        self.finish()

    def finish(self) -> None:
        """Close what is open."""
        self.written += [f"</{tag}>" for tag in reversed(self._open)]
        self._open.clear()

    def _class_of(self, style: str) -> str:
        found = filter(None, map(_DECLARATION.fullmatch, style.split(";")))
        rules = ";".join(f"{one[1]}:{' '.join(one[2].split())}" for one in found if not _LOADS.search(one[0]))
        return self.classes.setdefault(rules, f"s{len(self.classes) + 1}") if rules else ""
