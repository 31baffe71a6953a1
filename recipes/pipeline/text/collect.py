"""Raw corpora of a language pair into clean text and a tokenizer.

DATA holds train/CORPUS.PAIR.LANGUAGE.bz2, test/ and news/ as its README describes. Writes

    OUTPUT/part1/GROUP.LANGUAGE.bz2, OUTPUT/part2/...   clean lines, in the order of the corpora
    OUTPUT/tokenizer/                                   one SentencePiece model for both languages
    OUTPUT/test/                                        validation text with tags, and test sets
    OUTPUT/collected.json                               pairs of each corpus and what each rule took

Length rules count subword tokens and therefore come with the tokenizer, in corpora/.
"""

import bz2
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from pipeline.recipe import Recipe
from pipeline.text import noise
from pipeline.tools import write_lines
from sieve.data.cleaning import CleaningOptions, apply_text_rules, sentence_hash, text_rules
from sieve.data.reading import read_lines
from sieve.files import write_json
from sieve.tokenize.normalize import normalize
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers

BLOCK = 1000  # lines that stay together: neighbours compress well
Lines = tuple[list[str], list[str]]
PARTS = ("part1", "part2")
COVERAGE = 0.999995  # of characters: quotation marks and € as well, which 0.9995 spells in bytes
SAMPLE = 50_000  # pairs of a corpus that the tokenizer learns from: the large ones must not rule


def test_hashes(pair: Recipe, data: Path) -> frozenset[int]:
    """Of every line of a pair's test sets, development text included."""
    back = "-".join(reversed(pair.languages))
    files = [
        *(data / "test").glob(f"*.{pair.name}.??"),
        *(data / "news").glob(f"*.{pair.name}.*"),
        *(data / "test").glob(f"*.{back}.??"),
    ]
    lines = (normalize(line) for path in sorted(files) for line in read_lines(path))
    return frozenset(sentence_hash(line) for line in lines if line)


class Cleaner:
    """Repairs and rules, and duplicates over all corpora of a pair."""

    def __init__(self, pair: Recipe, data: Path) -> None:
        self._pair = pair
        self._seen: set[int] = set()
        self._tests = test_hashes(pair, data)

    def clean(self, name: str, lines: Lines) -> tuple[Lines, Counter[str]]:
        """The pairs of a corpus that are kept, and how many each rule removed."""
        trusted = CleaningOptions(max_overlap=None, language_odds=None)
        options = trusted if name in self._pair.trusted else CleaningOptions()
        first, second = self._pair.languages
        rules = text_rules(options, (first, second), self._tests)
        kept: Lines = ([], [])
        removed: Counter[str] = Counter()
        ratio = sum(map(len, lines[1])) / sum(map(len, lines[0]))
        for start in range(0, len(lines[0]), 8192):
            sides = [[noise.repair(normalize(x)) for x in s[start : start + 8192]] for s in lines]
            good = self._without_noise(sides, ratio, removed)
            good, refused = apply_text_rules(rules, *good)
            removed += refused
            for source, target in zip(*good, strict=True):
                mark = sentence_hash(f"{source}\n{target}")
                if mark in self._seen:
                    removed["duplicate"] += 1
                    continue
                self._seen.add(mark)
                kept[0].append(source)
                kept[1].append(target)
        return kept, removed

    @staticmethod
    def _without_noise(sides: list[list[str]], ratio: float, removed: Counter[str]) -> Lines:
        good: Lines = ([], [])
        for source, target in zip(*sides, strict=True):
            rule = noise.refused_by(source, target, ratio)
            if rule:
                removed[rule] += 1
            else:
                good[0].append(source)
                good[1].append(target)
        return good


class Output:
    """The files of the parts, opened when they are first written to."""

    def __init__(self, directory: Path, languages: Sequence[str]) -> None:
        self._directory = directory
        self._languages = languages
        self._files: dict[Path, TextIO] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def write(self, part: str, group: str, sides: Lines) -> None:
        """Appends a block of pairs."""
        for language, lines in zip(self._languages, sides, strict=True):
            path = self._directory / part / f"{group}.{language}.bz2"
            if path not in self._files:
                path.parent.mkdir(parents=True, exist_ok=True)
                file = bz2.open(path, "wt", 9, encoding="utf-8", newline="\n")  # noqa: SIM115
                self._files[path] = self._stack.enter_context(file)
            self._files[path].writelines(f"{line}\n" for line in lines)


def blocks(sides: Lines) -> Iterator[Lines]:
    for start in range(0, len(sides[0]), BLOCK):
        yield sides[0][start : start + BLOCK], sides[1][start : start + BLOCK]


def sample(lines: int) -> list[int]:
    """Evenly spread positions of the lines that the tokenizer learns from."""
    count = min(SAMPLE, lines // 2)
    return [i * lines // count for i in range(count)]


def clean_all(pair: Recipe, data: Path, output: Path) -> dict[str, Any]:
    """Cleans all corpora and trains the tokenizer; returns the counts."""
    cleaner = Cleaner(pair, data)
    corpora: dict[str, Any] = {}
    texts: Lines = ([], [])
    with Output(output, pair.languages) as files:
        for group, name in pair.corpora():
            stem = data / "train" / f"{name}.{pair.name}"
            paths = [Path(f"{stem}.{language}.bz2") for language in pair.languages]
            first, second = (list(read_lines(path)) for path in paths)
            kept, removed = cleaner.clean(name, (first, second))
            shares = pair.first_part.get(name, 1)
            for number, block in enumerate(blocks(kept)):
                files.write(PARTS[number % shares > 0], group, block)
            for side, lines in zip(texts, kept, strict=True):
                side += [lines[i] for i in sample(len(lines))]
            corpora[name] = {"group": group, "read": len(first), "kept": len(kept[0])}
            corpora[name]["removed"] = dict(removed)
            print(name, json.dumps(corpora[name]), flush=True)
    train_tokenizer(pair, texts, output / "tokenizer")
    return corpora


def train_tokenizer(pair: Recipe, texts: Lines, directory: Path) -> None:
    options = TokenizerOptions(
        vocab_size=pair.pieces.teacher, character_coverage=COVERAGE, symbols=pair.tags
    )
    tokenizers = train_tokenizers(options, *texts)
    directory.mkdir(parents=True, exist_ok=True)
    tokenizers.save(directory)


def copy_tests(pair: Recipe, data: Path, output: Path) -> None:
    """Validation text, and that of both directions with tags; test sets as they are."""
    output.mkdir(parents=True, exist_ok=True)
    valid = {
        language: list(read_lines(data / "test" / f"{pair.validation}.{pair.name}.{language}"))
        for language in pair.languages
    }
    for language, lines in valid.items():
        write_lines(output / f"valid.{language}", lines)
    with (output / "valid.src").open("w") as src, (output / "valid.tgt").open("w") as tgt:
        for source, target, tag in pair.directions():
            src.writelines(f"{tag} {line}\n" for line in valid[source])
            tgt.writelines(f"{line}\n" for line in valid[target])
    for name, directions in pair.tests.items():
        for direction in directions:
            for language in pair.languages:
                file = f"{name}.{direction}.{language}"
                (output / file).write_bytes((data / "test" / file).read_bytes())


def collect(pair: Recipe, data: Path, output: Path, command: str) -> None:
    """The whole stage; collected.json comes last."""
    output.mkdir(parents=True, exist_ok=True)
    copy_tests(pair, data, output / "test")
    corpora = clean_all(pair, data, output)
    write_json(output / "collected.json", {"command": command, "corpora": corpora})
