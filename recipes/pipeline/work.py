"""What each stage does: one method a stage, which calls the rooms that know how."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.corpora import run_configs
from pipeline.layout import Layout
from pipeline.recipe import Recipe, Run
from pipeline.tools import Tools
from sieve.files import copy_file


@dataclass(frozen=True)
class PairWork:
    """Stages of both directions together; rooms are imported where needed, torch with some."""

    recipe: Recipe
    places: Layout
    tools: Tools

    def collect(self) -> None:
        from pipeline.text.collect import collect

        collect(self.recipe, self.places.data, self.places.collected, self.command("collect"))

    def borrow(self) -> None:
        from pipeline.text.borrow import GROUP, take

        for language, files in self.recipe.borrow.items():
            output = self.places.collected / "part2" / f"{GROUP}.{language}.bz2"
            lines = [self.places.work / file for file in files]
            print(f"{take(self.recipe, self.places.data, lines, output)} lines borrowed")

    def tokenizer(self) -> None:
        from pipeline.text.student_tokenizer import learn_tokenizer

        learn_tokenizer(self.recipe, self.places.collected, self.places.tokenizer)

    def aligner(self) -> None:
        from pipeline.corpora.aligner import learn_aligner

        places = self.places
        learn_aligner(self.recipe, places.collected, places.tokenizer, places.aligner)

    def teacher_corpora(self) -> None:
        from pipeline.corpora.teacher_corpora import number_parts

        number_parts(self.recipe, self.places.collected, self.places.teacher, self.tools.jobs)

    def teacher_start(self) -> None:
        from pipeline.corpora.transfer import transfer

        start, places = self.recipe.start, self.places
        tokenizer = places.collected / "tokenizer"
        transfer(Path(start.teacher), tokenizer, places.teacher / "start", start.tags)

    def teacher(self) -> None:
        from pipeline.corpora.teacher_corpora import teacher_data

        folder = self.places.teacher
        start = folder / "start" if self.recipe.start.teacher else None
        data = teacher_data(self.recipe, self.places.collected, folder)
        self.train(folder / "run", self.recipe.teacher, data, self.recipe.budgets.teacher, start)

    def teacher_scores(self) -> None:
        from pipeline.ship.teacher_scores import score_teacher

        places = self.places
        score_teacher(
            self.recipe, places.teacher_model, places.collected / "test", places.teacher_scores,
            self.command("teacher-scores"),
        )  # fmt: skip

    def teacher_pack(self) -> None:
        from pipeline.ship.weights import split

        split(self.places.teacher_model, self.places.packed / "teacher")

    def teacher_unpack(self) -> None:
        from pipeline.ship.weights import join

        join(self.places.packed / "teacher", self.places.teacher_model)

    def cut(self) -> None:
        from pipeline.distil.translating import cut_text

        cut_text(self.places.collected, self.places.text, self.tools.jobs)

    def train(
        self,
        run: Path,
        settings: Run,
        data: Mapping[str, object],
        minutes: float,
        start: Path | None,
    ) -> None:
        """A training run; `sieve train` resumes one that was stopped."""
        config = run.with_name(f"{run.name}.toml")
        run_configs.write_run(config, settings, data)
        limit = ["--max-minutes", minutes] if minutes else []
        begin = ["--init-from", start] if start else []
        self.tools.sieve("train", "--config", config, "--output", run, *limit, *begin)

    def command(self, stage: str) -> str:
        """How a stage is called, for what it writes."""
        return f"python recipes/build.py {self.recipe.name} {stage}"


@dataclass(frozen=True)
class DirectionWork(PairWork):
    """Stages of one direction."""

    direction: str
    folder: Path
    """Of the recipe."""

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        source, target = self.direction.split("-")
        return source, target

    @property
    def packed_text(self) -> Path:
        """Distilled text that travels."""
        return self.places.packed / f"distilled.{self.direction}"

    @property
    def packed_weights(self) -> Path:
        """A student that travels."""
        return self.places.packed / f"student.{self.direction}"

    @property
    def start(self) -> Path:
        """Another pair's student with this pair's vocabulary."""
        return self.places.of("start", self.direction)

    @property
    def scores(self) -> Path:
        """What `evaluate` measured."""
        return self.places.work / f"scores.{self.direction}.json"

    @property
    def metrics(self) -> dict[str, Path]:
        """Of the training runs."""
        runs = ("student", "settle", "head")
        return {run: self.places.of(run, self.direction) / "metrics.jsonl" for run in runs}

    def distil(self) -> None:
        from pipeline.distil.translating import Translating
        from pipeline.text.borrow import turn

        source, target = self.languages
        tags = {target: tag for _, target, tag in self.recipe.directions()}
        Translating(
            self.places.text, self.places.teacher_model,
            self.places.of("distilled", self.direction), source, target, tags[target],
            minutes=self.recipe.budgets.distil,
        ).run(self.tools.jobs)  # fmt: skip
        turn(self.places.work, source, target)

    def distil_pack(self) -> None:
        from pipeline.distil.packing import pack

        pack(self.places.work, self.direction, self.packed_text)

    def distil_unpack(self) -> None:
        from pipeline.distil.packing import unpack

        unpack(self.packed_text, self.direction, self.places.work)

    def corpora(self) -> None:
        self._number("distilled")

    def head_corpora(self) -> None:
        self._number("own")

    def _number(self, kind: str) -> None:
        from pipeline.corpora.student_corpora import Job, number_all

        source, target = self.languages
        aligned = tuple(group for group, n in self.recipe.repeats.items() if n > 1)
        turned = source != self.recipe.languages[0]
        places = self.places
        job = Job(places.work, source, target, places.tokenizer, places.aligner, turned, aligned)
        number_all(job, kind, self.tools.jobs)

    def student(self) -> None:
        from pipeline.corpora.transfer import transfer

        other = self.recipe.start.students.get(self.direction)
        if other and not self.start.exists():
            transfer(Path(other), self.places.tokenizer, self.start, {})
        self._train("student", self._student_data(), self.start if other else None)

    def settle(self) -> None:
        start = self.places.model("student", self.direction)
        self._train("settle", self._student_data(), start)

    def own(self) -> None:
        from pipeline.distil.translating import Translating

        places, (source, target) = self.places, self.languages
        Translating(
            places.text, places.model("settle", self.direction),
            places.of("own", self.direction), source, target, by_reference=False,
            most=self.recipe.budgets.own_pieces,
        ).run(self.tools.jobs)  # fmt: skip

    def head(self) -> None:
        places = self.places
        corpora, for_head = (places.of(x, self.direction) for x in ("corpora", "head-corpora"))
        data = run_configs.head_data(self.recipe, corpora, for_head)
        self._train("head", data, places.model("settle", self.direction))

    def _student_data(self) -> dict[str, object]:
        return run_configs.student_data(self.recipe, self.places.of("corpora", self.direction))

    def _train(self, stage: str, data: Mapping[str, object], start: Path | None) -> None:
        source, target = (str(self.places.valid(language)) for language in self.languages)
        settings: Run = getattr(self.recipe, stage)
        minutes: float = getattr(self.recipe.budgets, stage)
        whole = {**data, "valid_src": source, "valid_tgt": target}
        self.train(self.places.of(stage, self.direction), settings, whole, minutes, start)

    def pack(self) -> None:
        from pipeline.ship.weights import split

        along = {f"{run}.jsonl": path for run, path in self.metrics.items() if path.exists()}
        split(self.places.model("head", self.direction), self.packed_weights, along)

    def unpack(self) -> None:
        from pipeline.ship.weights import join

        join(self.packed_weights, self.places.model("head", self.direction))
        for run, path in self.metrics.items():
            packed = self.packed_weights / f"weights.{run}.jsonl"
            if packed.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                copy_file(packed, path)

    def join(self) -> None:
        from pipeline.ship.weights import halve

        halve(self.places.model("head", self.direction), self.places.of("model", self.direction))

    def lexicon(self) -> None:
        from pipeline.corpora import lexicon_corpus

        places, languages = self.places, self.languages
        distilled = places.of("distilled", self.direction)
        pairs = (
            lexicon_corpus.reference_pairs(places.text, *languages)
            if self.recipe.ship.lexicon == "references"
            else lexicon_corpus.distilled_pairs(places.text, distilled, *languages)
        )
        corpus = places.of("lexicon-corpus", self.direction)
        lexicon_corpus.lexicon_corpus(corpus, pairs, languages, places.tokenizer)
        self.tools.sieve(
            "lexicon", "build", corpus, "--output", places.of("lexicon", self.direction)
        )

    def int8(self) -> None:
        from pipeline.ship.int8 import make_int8

        places = self.places
        model, final = places.of("model", self.direction), places.final(self.direction)
        make_int8(self.tools.sieve, self.recipe, model, places.collected, final)

    def evaluate(self) -> None:
        from pipeline.ship.evaluate import Evaluation

        lexicon = self.places.of("lexicon", self.direction)
        Evaluation(
            self.recipe, self.places.final(self.direction), self.places.data / "test",
            lexicon if lexicon.exists() else None, self.recipe.ship.threads,
        ).write(self.scores, self.command(f"evaluate.{self.direction}"))  # fmt: skip

    def card(self) -> None:
        from pipeline.ship.card import Sources, write_card

        places = self.places
        sources = Sources(
            places.counts, self.scores, places.teacher_scores, self.metrics,
            self.folder / "notes.md",
        )  # fmt: skip
        write_card(self.recipe, places.final(self.direction), sources)
