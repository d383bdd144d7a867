"""Letters as a person sees them: ours look as they were written, and whatever is in one, it does nothing."""

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.mail.emails import ANA, LINK, SENDER, letter, link_letter
from tests.support.world import World
from tickover.server.mail.compose import Composer
from tickover.server.mail.email_pages import page_of_html, page_of_text
from tickover.server.mail.mailbox import Mailbox
from tickover.server.mail.mailer import Email, EmailKind
from tickover.server.mail.outbox import Outbox

TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "b", "blockquote", "br", "code", "div", "em", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p", "pre", "small", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
ATTRIBUTES = {"lang", "charset", "name", "content", "class", "title"}
VOID = {"meta", "br", "hr"}


class Seen(HTMLParser):
    """What a page is made of. All of it has to be harmless, and every tag to be closed."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.style = ""
        self.titles: list[str] = []
        self._open: list[str] = []
        self.feed(body.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        given = dict(attrs)
        assert re.fullmatch(r"s[0-9]+", given.get("class") or "s0")
        self.titles += filter(None, [given.get("title")])
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.style += data
        elif "body" in self._open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def seen(html: str) -> Seen:
    page = page_of_html(html)
    found = Seen(page.body)
    digest = b64encode(sha256(found.style.encode()).digest()).decode()
    assert page.style_hash == f"sha256-{digest}"
    # One rule for each pair of braces, and nothing that reaches out of one.
    assert re.fullmatch(r"(?:[a-z0-9.]+\{[^{}<>\\\"'@*]*\})+", found.style)
    return found


# Ours


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (letter(), ["Your Tickover code is", "012345", ANA]),
        (link_letter(), ["Sign in to Tickover", LINK, ANA]),
        (letter(kind=EmailKind.CODES_STOPPED, secret=""), ["codes are switched off", ANA]),
        (letter('"<b>&amp;"@example.test'), ['"<b>&amp;"@example.test']),
    ],
)
def test_our_letters_are_shown_as_they_were_written(tmp_path: Path, sent: Email, says: list[str]) -> None:
    asyncio.run(Outbox(tmp_path, Composer(SENDER)).deliver(sent))
    mailbox = Mailbox(tmp_path)
    [one] = asyncio.run(mailbox.letters())
    page = asyncio.run(mailbox.page(one.id))
    assert page is not None
    found = Seen(page.body)
    assert [words for words in says if words not in found.text] == []
    # Each style of the letter is one of the page, to the letter.
    [file] = tmp_path.glob("*.eml")
    whole = asyncio.run(mailbox.letter(file.stem))
    assert whole is not None
    html = Composer(SENDER)._render(sent, "html")
    styles = list(dict.fromkeys(re.findall(r'style="([^"]*)"', html)))
    assert len(styles) >= 3
    assert [style for style in styles if f"{{{style}}}" not in found.style] == []
    assert found.style.count("{") == 2 + len(styles)


def test_a_link_leads_nowhere_and_says_where_it_would_have_led() -> None:
    found = seen(f'<a href="{LINK}&quot;x" style="color:red">in</a>')
    assert found.titles == [f'{LINK}"x']
    assert ".s1{color:red}" in found.style


async def test_the_policy_knows_the_style(world: World) -> None:
    await world.send_code()
    [file] = world.outbox.glob("*.eml")
    answer = await world.request("GET", f"/mailbox/emails/{file.stem}.html")
    digest = b64encode(sha256(Seen(answer.body).style.encode()).digest()).decode()
    assert answer.headers["content-security-policy"] == (
        f"sandbox; default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'self'; "
        "base-uri 'none'; form-action 'none'"
    )


# Anybody's

SCRIPTS: dict[str, str] = {
    "a script": "<script>alert(1)</script>",
    "a script that is not closed": "<script>alert(1)",
    "a script in capitals": "<SCRIPT SRC=//evil.example></SCRIPT>",
    "a script in a script": "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "a handler": "<img src=x onerror=alert(1)>",
    "a handler on a tag that is kept": '<p onclick="alert(1)">',
    "a handler without quotes": "<p/onmouseover=alert(1)//>",
    "a vector": "<svg><script>alert(1)</script><a xlink:href='javascript:alert(1)'><animate onbegin=alert(1)></svg>",
    "a formula": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></math>",
    "a frame": "<iframe src='javascript:alert(1)'></iframe><iframe srcdoc='<script>alert(1)</script>'>",
    "frames": "<frameset><frame src='javascript:alert(1)'></frameset>",
    "an object": "<object data='x'><embed src='x'></object>",
    "an address that runs": "<a href='javascript:alert(1)'>x</a>",
    "an address that runs, in entities": "<a href='java&#115;cript&colon;alert(1)'>x</a>",
    "a form": "<form action=//evil.example><input autofocus onfocus=alert(1)><button formaction=javascript:alert(1)>",
    "a base": "<base href=//evil.example/>",
    "a refresh": "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "a policy": "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'\">",
    "a style": "<style>@import '//evil.example';body{display:none}</style>",
    "a sheet": "<link rel=stylesheet href=//evil.example>",
    "a picture": "<picture><source srcset=//evil.example><img src=//evil.example></picture>",
    "a film": "<video src=//evil.example poster=//evil.example><source onerror=alert(1)></video>",
    "a template": "<template><script>alert(1)</script></template>",
    "a title": "<title><img src=x onerror=alert(1)></title>",
    "a field": "<textarea></p><img src=x onerror=alert(1)>",
    "no script": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "raw text": "<xmp><img src=x onerror=alert(1)></xmp><plaintext>",
    "a comment": "<!--><img src=x onerror=alert(1)>--><!-- --!><img src=x onerror=alert(1)>",
    "a declaration": "<![CDATA[<img src=x onerror=alert(1)>]]><!DOCTYPE x [<!ENTITY y 'z'>]><?php alert(1) ?>",
    "a section that nobody knows": "<![if IE]><img src=x onerror=alert(1)><![endif]><![foo[x]]>",
    "an attribute that ends the tag": """<p title='"><script>alert(1)</script>' class='"><script>'>""",
    "a link that ends its title": """<a href='"><script>alert(1)</script>'>x</a>""",
    "tags in the wrong order": "<b><p></b></p></div></body></html><p>x",
    "half a tag": "<p <script",
    "half an entity": "&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;&lt;script&gt;&#xD800;&#0;&#x110000;&nope",
    "null characters": "<scr\0ipt>alert(1)</scr\0ipt>\0<p\0 onclick=alert(1)>",
    "a tag of ours in a namespace": "<p:script>alert(1)</p:script><custom-element onclick=alert(1)>",
    "many open tags": "<div>" * 5000,
    "many half tags": "<" * 20_000,
    "many comments": "<!--" * 20_000,
    "many declarations": "<!" * 20_000,
}  # fmt: skip


@pytest.mark.parametrize("html", SCRIPTS.values(), ids=SCRIPTS)
def test_whatever_is_in_a_letter_does_nothing(html: str) -> None:
    """`seen` refuses all that could."""
    seen(html)
    seen(f"<p>before</p>{html}<p>after</p>")
    seen(f"<html><head><title>t</title>{html}</head><body style='color:red'>{html}</body></html>")
    assert seen(f"<p>before</p>{html}").text.startswith("before")


STYLES: dict[str, tuple[str, str]] = {
    "ours": (
        "font:700 32px/1.2 ui-monospace,monospace;letter-spacing:.15em",
        "font:700 32px/1.2 ui-monospace,monospace;letter-spacing:.15em",
    ),
    "brackets": ("color:rgb(1, 2, 3);width:calc(1px + 2%)", "color:rgb(1, 2, 3);width:calc(1px + 2%)"),
    "a word of weight": ("color: red !important", "color:red !important"),
    "lines": ("color:\r\n red;\n\n font-size:\t1em", "color:red;font-size:1em"),
    "an address": ("background:url(//evil.example);color:red", "color:red"),
    "an address in quotes": ("background:url('//evil.example');color:red", "color:red"),
    "an address in capitals": ("background:URL(x)", ""),
    "an image": ("background:image-set(x 1x);list-style-image:x", ""),
    "escapes": (r"background:\75rl(x);color:\72 ed", ""),
    "the end of a rule": ("color:red}body{display:none", ""),
    "the end of the style": ("color:red</style><script>alert(1)</script>", ""),
    "an open comment": ("color:red/*;font-size:1em", "font-size:1em"),
    "an open bracket": ("color:rgb(1;font-size:1em", "font-size:1em"),
    "a closed bracket": ("color:1);font-size:1em", "font-size:1em"),
    "an open quote": ("font-family:'x;font-size:1em", "font-size:1em"),
    "an import": ("@import 'x';color:red", "color:red"),
    "a variable": ("--x:url(x);color:var(--x)", "color:var(--x)"),
    "an expression": ("width:expression(alert(1));behavior:x;-moz-binding:x", ""),
    "nothing": (";;: ;", ""),
    "no text": ("color:\0red;width:\ud8001px", ""),
    "a very long one": ("a" * 10_000 + ":b", ""),
}  # fmt: skip


@pytest.mark.parametrize(("style", "kept"), STYLES.values(), ids=STYLES)
def test_of_a_style_only_what_is_harmless_is_kept(style: str, kept: str) -> None:
    found = seen(f'<p style="{style}">x</p>')
    assert found.style.endswith(f".s1{{{kept}}}" if kept else "{white-space:pre-wrap}")
    assert found.text == "x"


def test_one_style_is_one_class() -> None:
    found = seen('<p style="color:red">x</p><b style="color: red">y</b><i style="color:blue">z</i>')
    assert found.style.endswith("{white-space:pre-wrap}.s1{color:red}.s2{color:blue}")


@pytest.mark.parametrize("text", ["", "a\n  b", "<script>alert(1)</script>", "</pre><p>", "&lt;", "\0\ud800"])
def test_a_letter_that_is_text_is_shown_as_text(text: str) -> None:
    found = Seen(page_of_text(text).body)
    assert found.tags == ["html", "head", "meta", "meta", "meta", "title", "style", "body", "pre"]
    assert "".join(found.texts).strip("\n") == text.replace("\ud800", "?")


async def test_a_letter_without_html_is_shown_as_text(world: World) -> None:
    name = "20270101T120000.000000Z-1-000000"
    (world.outbox / f"{name}.eml").write_bytes(b"From: x\r\nTo: y\r\n\r\n<b>plain</b>\r\n")
    answer = await world.request("GET", f"/mailbox/emails/{name}.html")
    assert answer.status == 200
    assert b"<pre>&lt;b&gt;plain&lt;/b&gt;" in answer.body
