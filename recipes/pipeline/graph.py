"""All stages of a build: what each reads and writes, in the order in which they run."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.layout import Layout
from pipeline.recipe import Recipe
from pipeline.stage import Stage
from pipeline.tools import Tools
from pipeline.work import DirectionWork, PairWork
from sieve.config import to_dict


@dataclass(frozen=True)
class Build:
    """A recipe, where it is built, with what, and which directions are wanted."""

    recipe: Recipe
    folder: Path
    """Of the recipe."""
    places: Layout
    tools: Tools
    directions: tuple[str, ...]
    """en-de, de-en, or one of them."""

    def stages(self) -> list[Stage]:
        """Stages of the pair, then each stage of the students for each direction."""
        students = [list(self._student(direction)) for direction in self.directions]
        return [*self._pair(), *(stage for same in zip(*students, strict=True) for stage in same)]

    def _some(self, *names: str) -> dict[str, object]:
        """Settings of the recipe that a stage depends on."""
        settings = to_dict(self.recipe)
        return {name: settings[name] for name in names}

    def _raw(self) -> Iterator[Path]:
        """The files of a pair that the data folder must have."""
        pair, data = self.recipe, self.places.data
        for _, name in pair.corpora():
            yield from (data / "train" / f"{name}.{pair.name}.{x}.bz2" for x in pair.languages)
        stems = [f"{pair.validation}.{pair.name}"]
        stems += [f"{name}.{files}" for name, sets in pair.tests.items() for files in sets]
        yield from (data / "test" / f"{stem}.{x}" for stem in stems for x in pair.languages)

    def _pair(self) -> Iterator[Stage]:
        yield from self._text_stages()
        yield from self._teacher_stages()
        work, places = PairWork(self.recipe, self.places, self.tools), self.places
        yield Stage(
            "cut", "clean text in pieces, each an even sample of all corpora", work.cut,
            inputs=(places.collected,), outputs=(places.text,), grows=True,
        )  # fmt: skip

    def _text_stages(self) -> Iterator[Stage]:
        work, places = PairWork(self.recipe, self.places, self.tools), self.places
        yield Stage(
            "collect", "raw corpora into clean text and the teacher's tokenizer", work.collect,
            inputs=tuple(self._raw()), outputs=(places.collected,),
            maybe=(places.data / "test", places.data / "news"),
            settings=self._some(
                "languages", "tags", "groups", "validation", "tests", "first_part", "trusted"
            ) | {"pieces": self.recipe.pieces.teacher},
        )  # fmt: skip
        for language, files in self.recipe.borrow.items():
            yield Stage(
                "borrow", "lines of one language from another pair", work.borrow,
                inputs=(places.collected / "tokenizer", *(places.work / x for x in files)),
                outputs=(places.collected / "part2" / f"borrowed.{language}.bz2",),
            )  # fmt: skip
        yield Stage(
            "tokenizer", "the smaller vocabulary of the students", work.tokenizer,
            inputs=(places.collected,), outputs=(places.tokenizer,),
            settings={"pieces": self.recipe.pieces.student, **self._some("first_part", "groups")},
        )  # fmt: skip
        yield Stage(
            "aligner", "fast_align's tables, for guided alignment", work.aligner,
            inputs=(places.collected, places.tokenizer), outputs=(places.aligner,),
            settings=self._some("aligner_every"),
        )  # fmt: skip

    def _teacher_stages(self) -> Iterator[Stage]:
        work, places = PairWork(self.recipe, self.places, self.tools), self.places
        corpora, run = places.teacher / "corpora", places.teacher / "run"
        yield Stage(
            "teacher-corpora", "clean text, numbered in both directions", work.teacher_corpora,
            inputs=(places.collected,), outputs=(corpora,),
            owns=(corpora, places.teacher / "text"), grows=True,
        )  # fmt: skip
        start = places.teacher / "start"
        if self.recipe.start.teacher:
            yield Stage(
                "teacher-start", "another pair's teacher with this pair's vocabulary",
                work.teacher_start,
                inputs=(Path(self.recipe.start.teacher), places.collected / "tokenizer"),
                outputs=(start,), settings=self._some("start"),
            )  # fmt: skip
        yield Stage(
            "teacher", "one large model of both directions (GPU)", work.teacher,
            inputs=(
                corpora, places.collected / "test", *([start] if self.recipe.start.teacher else [])
            ),
            outputs=(places.teacher_model, run / "metrics.jsonl"), owns=(run,),
            settings=self._some("teacher", "repeats"),
            budget={"minutes": self.recipe.budgets.teacher},
        )  # fmt: skip
        yield Stage(
            "teacher-scores", "BLEU and chrF of the teacher", work.teacher_scores,
            inputs=(places.teacher_model, places.collected / "test"),
            outputs=(places.teacher_scores,), settings=self._some("tests"),
        )  # fmt: skip
        pieces = places.packed / "teacher"
        yield Stage(
            "teacher-pack", "the teacher in pieces for a small transfer", work.teacher_pack,
            inputs=(places.teacher_model,), outputs=(pieces,), optional=True,
        )  # fmt: skip
        yield Stage(
            "teacher-unpack", "a teacher from the pieces of another machine", work.teacher_unpack,
            inputs=(pieces,), outputs=(places.teacher_model,), optional=True,
        )  # fmt: skip

    def _student(self, direction: str) -> Iterator[Stage]:
        work = DirectionWork(self.recipe, self.places, self.tools, direction, self.folder)
        yield from self._distil_stages(work)
        yield from self._training_stages(work)
        yield from self._ship_stages(work)

    def _distil_stages(self, work: DirectionWork) -> Iterator[Stage]:
        places, name = self.places, work.direction
        distilled = places.of("distilled", name)
        yield Stage(
            f"distil.{name}", "the teacher translates all sources (GPU)", work.distil,
            inputs=(places.text, places.teacher_model), outputs=(distilled,), grows=True,
            budget={"minutes": self.recipe.budgets.distil},
        )  # fmt: skip
        yield Stage(
            f"distil-pack.{name}", "distilled text for a small transfer", work.distil_pack,
            inputs=(distilled, places.text), outputs=(work.packed_text,), optional=True,
        )  # fmt: skip
        yield Stage(
            f"distil-unpack.{name}", "distilled text of another machine", work.distil_unpack,
            inputs=(work.packed_text, places.text), outputs=(distilled,), optional=True,
        )  # fmt: skip
        yield Stage(
            f"corpora.{name}", "what the teacher wrote, numbered and aligned", work.corpora,
            inputs=(distilled, places.text, places.tokenizer, places.aligner),
            outputs=(places.of("corpora", name),), settings=self._some("repeats"), grows=True,
        )  # fmt: skip

    def _training_stages(self, work: DirectionWork) -> Iterator[Stage]:
        places, name, budgets = self.places, work.direction, self.recipe.budgets
        corpora, for_head = places.of("corpora", name), places.of("head-corpora", name)
        valid = (places.collected / "test",)
        other = self.recipe.start.students.get(name)
        start = (Path(other), places.tokenizer) if other else ()
        yield Stage(
            f"student.{name}", "the student learns from its teacher (GPU)", work.student,
            inputs=(corpora, *valid, *start), outputs=_run(places, "student", name),
            owns=(places.of("student", name), work.start),
            settings=self._some("student", "repeats", "start"),
            budget={"minutes": budgets.student},
        )  # fmt: skip
        yield Stage(
            f"settle.{name}", "no probability for tokens out of reach (GPU)", work.settle,
            inputs=(corpora, *valid, places.model("student", name)),
            outputs=_run(places, "settle", name), owns=(places.of("settle", name),),
            settings=self._some("settle", "repeats"), budget={"minutes": budgets.settle},
        )  # fmt: skip
        own = places.of("own", name)
        yield Stage(
            f"own.{name}", "the student translates some pieces itself (GPU)", work.own,
            inputs=(places.text, places.model("settle", name)), outputs=(own,), grows=True,
            budget={"pieces": budgets.own_pieces},
        )  # fmt: skip
        yield Stage(
            f"head-corpora.{name}", "its own outputs and phrases, numbered", work.head_corpora,
            inputs=(own, corpora, places.text, places.tokenizer), outputs=(for_head,), grows=True,
        )  # fmt: skip
        yield Stage(
            f"head.{name}", "the selection head learns alone (GPU)", work.head,
            inputs=(for_head, corpora, *valid, places.model("settle", name)),
            outputs=_run(places, "head", name), owns=(places.of("head", name),),
            settings=self._some("head", "repeats"), budget={"minutes": budgets.head},
        )  # fmt: skip
        yield Stage(
            f"pack.{name}", "the student in pieces for a small transfer", work.pack,
            inputs=(places.model("head", name),), outputs=(work.packed_weights,), optional=True,
        )  # fmt: skip
        yield Stage(
            f"unpack.{name}", "a student from the pieces of another machine", work.unpack,
            inputs=(work.packed_weights,), outputs=(places.model("head", name),), optional=True,
        )  # fmt: skip

    def _ship_stages(self, work: DirectionWork) -> Iterator[Stage]:
        places, name, recipe = self.places, work.direction, self.recipe
        weights, lexicon = places.of("model", name), places.of("lexicon", name)
        final, scores = places.final(name), work.scores
        yield Stage(
            f"join.{name}", "the student's weights in 16 bits", work.join,
            inputs=(places.model("head", name),), outputs=(weights,),
        )  # fmt: skip
        learned = () if recipe.ship.lexicon == "references" else (places.of("distilled", name),)
        yield Stage(
            f"lexicon.{name}", "an alignment lexicon to compare with", work.lexicon,
            inputs=(places.text, places.tokenizer, *learned), outputs=(lexicon,),
            settings={"from": recipe.ship.lexicon},
        )  # fmt: skip
        yield Stage(
            f"int8.{name}", "8 bits, operating point, names: what ships", work.int8,
            inputs=(weights, places.collected), outputs=(final,),
            settings={"sharpen": recipe.ship.sharpen, "size": recipe.ship.size},
        )  # fmt: skip
        model = (final / "config.json", final / "model.safetensors")
        yield Stage(
            f"evaluate.{name}", "quality and recall on all test sets", work.evaluate,
            inputs=(*model, places.data / "test"), outputs=(scores,), maybe=(lexicon,),
        )  # fmt: skip
        yield Stage(
            f"card.{name}", "MODEL_CARD.md", work.card,
            inputs=(*model, scores, places.counts), outputs=(final / "MODEL_CARD.md",),
            maybe=(places.teacher_scores, self.folder / "notes.md", *work.metrics.values()),
            settings=self._some("licences", "borrowed"),
        )  # fmt: skip


def _run(places: Layout, stage: str, direction: str) -> tuple[Path, ...]:
    return places.model(stage, direction), places.of(stage, direction) / "metrics.jsonl"
