"""Where everything of a build lies. Knows no stage."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Paths below the folder of raw data and the folder of work."""

    data: Path
    """train/, test/ and news/ as the data's README describes them."""
    work: Path

    @property
    def collected(self) -> Path:
        """Clean text in parts, the teacher's tokenizer, validation text and test sets."""
        return self.work / "collected"

    @property
    def counts(self) -> Path:
        """Pairs of each corpus and what each rule took."""
        return self.collected / "collected.json"

    @property
    def tokenizer(self) -> Path:
        """The students'."""
        return self.work / "tokenizer"

    @property
    def aligner(self) -> Path:
        """For guided alignment."""
        return self.work / "aligner.npz"

    @property
    def teacher(self) -> Path:
        """Everything of the teacher."""
        return self.work / "teacher"

    @property
    def teacher_model(self) -> Path:
        """The trained teacher."""
        return self.teacher / "run" / "model"

    @property
    def teacher_scores(self) -> Path:
        """BLEU and chrF of the teacher."""
        return self.teacher / "scores.json"

    @property
    def text(self) -> Path:
        """The clean text, cut into pieces."""
        return self.work / "text"

    @property
    def packed(self) -> Path:
        """What travels from one machine to another."""
        return self.work / "packed"

    def valid(self, language: str) -> Path:
        """Validation text as it is, without tags."""
        return self.collected / "test" / f"valid.{language}"

    def of(self, kind: str, direction: str) -> Path:
        """What a stage makes for one direction: distilled.en-de, student.en-de."""
        return self.work / f"{kind}.{direction}"

    def model(self, stage: str, direction: str) -> Path:
        """The trained model of a stage."""
        return self.of(stage, direction) / "model"

    def final(self, direction: str) -> Path:
        """The directory that ships."""
        return self.work / direction
