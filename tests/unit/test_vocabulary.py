"""Plain technical English: words and phrases that the code, the documentation and the tests do not use."""

import re

import pytest

from tests.support.repository import text_files

# A pattern, and the words to use instead. Identifiers are split into words first: `LetterPage` becomes "letter page".
BANNED = {
    r"\bwho(?:m)?ever\b": "anyone who, the caller, the client",
    r"\balike\b": "both, in the same way",
    r"\bof ours\b": "our own, Tickover's",
    r"\btold\b": "documented, reported, passed",
    r"\bquarrel\w*\b": "conflict",
    r"\banew\b": "again",
    r"\bbroken off\b": "interrupted",
    r"\bthe door\b": "the HTTP handler",
    r"\bshort way\b": "fast path",
    # Characters of an alphabet, the CSS property and a column of the database keep the word.
    r"(?<!ascii )(?<!small )(?<!three )(?<!unicode )(?<!of )(?<!uppercase )(?<!by last )"
    r"\bletters?\b(?!.spacing| and digits)": "email",
    r"\bgatherer\b": "batcher",
    r"\btally\b": "quota, count",
    r"\btroubles?\b(?!shoot)": "error, problem",
    r"\bliving from\b": "min live key",
    r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b)": "is not",
    r"\bknown are\b": "available: ...",
    r"\bdraws? lots\b": "read randomness",
    r"(?:\"\"\"|^\s*# |\S +# |// )wh(?:at|o) ": "a noun: name the thing itself",
}
_ANY_BANNED = re.compile("|".join(BANNED), re.MULTILINE)


def in_words(text: str) -> str:
    """Split identifiers into words and lower the case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text).lower()


def banned_lines(name: str, text: str) -> list[str]:
    words = in_words(text)
    if not _ANY_BANNED.search(words):
        return []
    lines = words.splitlines()
    return [
        f"{name}:{number}: {line.strip()!r}. Instead of {found[0]!r}, write: {instead}"
        for number, line in enumerate(lines, 1)
        for pattern, instead in BANNED.items()
        if (found := re.search(pattern, line))
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
