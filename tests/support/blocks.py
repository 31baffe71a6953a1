"""The code blocks of README and docs/: where they stand, and the commands in them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMANDS = ("sieve", "pip", "make", "curl", "python", "docker", "torchrun", "echo", "bash", "for")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def key(self) -> str:
        """What names the block in lists: the page and how its text begins."""
        return f"{self.page}: {self.text.strip().splitlines()[0].strip()[:60]}"

    @property
    def is_commands(self) -> bool:
        """Whether a shell runs it."""
        first = self.text.split(maxsplit=1)[:1]
        return self.language in ("", "sh", "bash") and bool(first) and first[0] in _COMMANDS

    def commands(self) -> list[list[str]]:
        """The words of each simple command, without redirections and comments."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [command for line in lines for command in _simple_commands(line) if command]


def _simple_commands(line: str) -> list[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;<>&")
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    redirected = False
    for word in lexer:
        if set(word) <= set("<>"):
            redirected = True
        elif set(word) <= set("|;&"):
            commands.append([])
        elif redirected:
            redirected = False
        else:
            commands[-1].append(word)
    return commands


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text("utf-8")
    name = str(page.relative_to(ROOT))
    return [
        Block(name, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in _FENCE.finditer(text)
        if match[2].strip()
    ]


EVERY = [block for page in PAGES for block in blocks(page)]
