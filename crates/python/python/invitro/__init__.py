"""Artificial languages over one world, and what language models carry from one to another.

>>> import invitro
>>> experiment = invitro.Experiment("quick", language__distance=0.25)
>>> [language.name for language in experiment.languages]
['A', 'B']
>>> sentence = experiment.sample(1, "B")[0]
>>> experiment.check([sentence.words], "B")[0].facts
True
"""

from ._collate import collate
from ._commands import Output, ScoredSentence, ScoredWord, generate, report, run_study, score, tokenizer_measure
from ._experiment import Batch, Experiment, Run
from ._inside import Hidden, PatchedForm, Patching, PatchPosition
from ._invitro import Error, __version__
from ._language import Failure, Language, Sentence, Tally, Verdict
from ._models import Evaluation, Generates, Logits, Ranks, Row, Scores
from ._progress import Progress
from ._study import Study

__all__ = [
    "Batch",
    "Error",
    "Evaluation",
    "Experiment",
    "Failure",
    "Generates",
    "Hidden",
    "Language",
    "Logits",
    "Output",
    "PatchPosition",
    "PatchedForm",
    "Patching",
    "Progress",
    "Ranks",
    "Row",
    "Run",
    "ScoredSentence",
    "ScoredWord",
    "Scores",
    "Sentence",
    "Study",
    "Tally",
    "Verdict",
    "__version__",
    "collate",
    "generate",
    "report",
    "run_study",
    "score",
    "tokenizer_measure",
]
