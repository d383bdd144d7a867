"""Plain technical English: words and phrases that the code, the documentation and the tests do not use."""

import re

import pytest

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
    ("trouble", r"\btroubles?\b(?!shoot)", "error, problem"),
    ("living from", r"\bliving from\b", "min live key"),
    (" no ", r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b)", "is not"),
    ("known are", r"\bknown are\b", "available: ..."),
    (" lots", r"\bdraws? lots\b", "read randomness"),
    ("wh", r"(?:\"\"\"|^\s*# |\S +# |// )wh(?:at|o) ", "a noun: name the thing itself"),
]


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


def test_no_file_uses_a_banned_word() -> None:
    files = text_files()
    # Released migrations never change, patches quote them, and this file lists the words.
    exempt = ("src/tickover/server/storage/schema/", "tests/unit/test_vocabulary.py")
    checked = {
        name: text for name, text in files.items() if not name.startswith(exempt) and not name.endswith(".patch")
    }
    assert [line for name, text in checked.items() for line in banned_lines(name, text)] == []


@pytest.mark.parametrize(
    "text",
    ["class LetterPage:", "latest_letter = 1", "Whoever signs in", "'x' is no time.", '"""What a caller asks for."""'],
)
def test_banned_words_are_found(text: str) -> None:
    assert banned_lines("file", text)


@pytest.mark.parametrize("text", ["three uppercase letters", "There is no clock with this id.", "is no longer valid"])
def test_ordinary_words_are_allowed(text: str) -> None:
    assert not banned_lines("file", text)
