"""Tables of recall by scope: idiom sets under given selections, and curves point by point."""

from collections.abc import Sequence
from dataclasses import dataclass

import sieve
from sieve.evaluate.measure.idioms import IdiomSet, ProverbSet
from sieve.evaluate.measure.probes import recalls
from sieve.translate.translator import Translator


@dataclass(frozen=True)
class ScopeRow:
    """One selection in one scope of a set."""

    model: str
    test: str
    selection: str
    scope: str
    recall: float
    mean_size: float
    sentences: int
    counted: int
    """Sentences that need any token in this scope."""
    tokens: int
    signature: str


def measure_scopes(
    translator: Translator, model: str, idioms: IdiomSet | ProverbSet, selections: Sequence[str]
) -> list[ScopeRow]:
    """Recall of each selection in each scope."""
    selectors = {name: translator.selector(name) for name in dict.fromkeys(selections)}
    rows = []
    for probe in idioms.probes(translator.tokenizers):
        for name, scopes in recalls(translator.engine, probe, selectors).items():
            rows += [
                ScopeRow(
                    model,
                    idioms.name,
                    name,
                    scope,
                    recall.recall,
                    recall.mean_size,
                    len(probe.src_ids),
                    probe.counted(scope),
                    probe.tokens(scope),
                    f"test:{idioms.name}|scope:{scope}|selection:{name}"
                    f"|engine:{translator.engine}|version:{sieve.__version__}",
                )
                for scope, recall in scopes.items()
            ]
    return rows
