"""Plain technical English: words and phrases that the code, the documentation and the tests don't use."""

import re

from tests.support.cases import each_case
from tests.support.repository import text_files

# A part of every match, a pattern, and the words to use instead. Few lines have the parts, so the search is fast.
# Identifiers are split into words first: `LetterPage` becomes "letter page".
BANNED = [
    ("ever", r"\bwho(?:m)?ever\b", "anyone who, the caller, the client"),
    ("alike", r"\balike\b", "both, in the same way"),
    ("ours", r"\bof ours\b", "our own, Tickover's"),
    ("told", r"\btold\b", "documented, reported, passed"),
    ("quarrel", r"\bquarrel\w*\b", "conflict"),
    ("anew", r"\banew\b", "again"),
    ("broken off", r"\bbroken off\b", "interrupted"),
    ("the door", r"\bthe door\b", "the HTTP handler"),
    ("short way", r"\bshort way\b", "fast path"),
    # Characters of an alphabet, the CSS property and a column of the database keep the word.
    (
        "letter",
        (
            r"(?<!ascii )(?<!small )(?<!three )(?<!unicode )(?<!of )(?<!uppercase )(?<!by last )"
            r"\bletters?\b(?!.spacing| and digits)"
        ),
        "email",
    ),
    ("gatherer", r"\bgatherer\b", "batcher"),
    ("tally", r"\btally\b", "quota, count"),
    ("refusal", r"\brefusals?\b", "error, rejection"),
    ("trouble", r"\btroubles?\b(?!shoot)", "error, problem"),
    ("living from", r"\bliving from\b", "min live key"),
    (" no ", r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b)", "is not"),
    ("known are", r"\bknown are\b", "available: ..."),
    (" lots", r"\bdraws? lots\b", "read randomness"),
    ("wh", r"(?:\"\"\"|^\s*# |\S +# |// )wh(?:at|o) ", "a noun: name the thing itself"),
]

# Docs, messages and comments use contractions. Names and the messages of other programs are exempt.
CONTRACTED = re.compile(r"\bcannot\b(?! overwrite)|\b(?:do|does|did) not\b(?! exist)", re.IGNORECASE)


def in_words(text: str) -> str:
    """Split identifiers into words and lower the case."""
    return re.sub(r"([a-z0-9])(?=[A-Z])", r"\1 ", text).replace("_", " ").lower()


def banned_lines(name: str, text: str) -> list[str]:
    words = in_words(text)
    possible = [banned for banned in BANNED if banned[0] in words]
    return [
        f"{name}:{number}: {line.strip()!r}. Instead of {found[0]!r}, write: {instead}"
        for number, line in enumerate(words.splitlines() if possible else [], 1)
        for part, pattern, instead in possible
        if part in line and (found := re.search(pattern, line))
    ]


def checked_files() -> dict[str, str]:
    # Released migrations never change, patches quote them, and this file lists the words.
    exempt = ("src/tickover/server/storage/schema/", "tests/unit/test_vocabulary.py")
    files = text_files().items()
    return {name: text for name, text in files if not name.startswith(exempt) and not name.endswith(".patch")}


def test_no_file_uses_a_banned_word() -> None:
    assert [line for name, text in checked_files().items() for line in banned_lines(name, text)] == []


def test_every_file_uses_contractions() -> None:
    found = [(name, match[0]) for name, text in checked_files().items() for match in CONTRACTED.finditer(text)]
    assert found == [], "write can't, don't, doesn't and didn't"


@each_case(
    ("text", "is_found"),
    [("Cannot listen", True), ("it does not", True), ("test_it_does_not", False), ("It can't, and doesn't.", False)],
)
def test_long_forms_are_found_outside_names(text: str, is_found: bool) -> None:
    assert bool(CONTRACTED.search(text)) is is_found


@each_case(
    "text",
    ["class LetterPage:", "latest_letter = 1", "Whoever signs in", "'x' is no time.", '"""What a caller asks for."""'],
)
def test_banned_words_are_found(text: str) -> None:
    assert banned_lines("file", text)


@each_case("text", ["three uppercase letters", "There is no clock with this ID.", "is no longer valid"])
def test_ordinary_words_are_allowed(text: str) -> None:
    assert not banned_lines("file", text)
