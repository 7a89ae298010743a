"""Hidden states and patches as the command has them, and as `transformers` computes them."""

from typing import Any

import invitro
import numpy as np
import pytest


def test_hidden_states_are_those_of_transformers(run: invitro.Run) -> None:
    pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    sentences = [row.words for row in run.experiment.sample(4, "A", "T0")]
    hidden = run.hidden(sentences, "A")
    assert (hidden.layers, hidden.step) == ((0, 1), 90) and hidden.states.dtype == np.float32
    norm = run.model().model.norm
    for sentence, ours, theirs in zip(sentences, hidden.sentences(), run.hidden_states(sentences, "A"), strict=True):
        with torch.no_grad():
            last = norm(torch.tensor(ours[:, 1])).numpy()
        assert np.abs(ours[:, 0] - theirs[0]).max() < 1e-4
        assert np.abs(last - theirs[1]).max() < 1e-4
    ids = hidden.tokens[: hidden.offsets[1]]
    assert ids.tolist() == run.experiment.encode(f"<T0:A> {sentences[0]}", "A")
    assert [hidden.pieces[id] for id in ids][0] == "<T0:A>"

    last = run.hidden(sentences, "A", layers=[1], positions="last", step=60)
    assert last.states.shape == (4, 1, 32) and last.step == 60
    assert run.hidden(sentences, "A", [1], positions="last").states.tolist() == [
        states[-1:, 1].tolist() for states in hidden.sentences()
    ]


def test_hidden_states_that_cannot_be(run: invitro.Run) -> None:
    (sentence,) = [row.words for row in run.experiment.sample(1, "B", "T0")]
    with pytest.raises(invitro.Error, match="layers are 0 .the embedding. to 1"):
        run.hidden([sentence], layers=[2])
    with pytest.raises(invitro.Error, match="a list of sentences"):
        run.hidden(sentence)
    with pytest.raises(invitro.Error, match="one is empty"):
        run.hidden([sentence, " "])
    with pytest.raises(invitro.Error, match="layers is empty"):
        run.hidden([sentence], layers=[])


def test_patches_are_those_of_transformers(run: invitro.Run) -> None:
    pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    patching = run.patch(logprob=True)
    assert (patching.receiver, patching.donor, patching.step) == ("B", "A", 90)
    words = {language.name: language.words for language in run.experiment.languages}
    assert patching.word in run.experiment.languages[1].masked
    model = run.model()
    modules = [model.model.embed_tokens, *model.model.layers]
    openings = {name: f"{of[patching.subject]} {of['copula']}" for name, of in words.items()}
    prompt = run.experiment.encode(f"<T0:B> {openings['B']}", "B")
    donor = torch.tensor(run.hidden([openings["A"]], "A").states)

    def logprob(word: list[int]) -> float:
        """log P(word | prompt)"""
        with torch.no_grad():
            scores = model(torch.tensor([prompt + word])).logits[0].log_softmax(-1)
        return float(sum(scores[len(prompt) - 1 + at, id] for at, id in enumerate(word)))

    assert [position.role for position in patching.positions][:2] == ["tag", "subject"]
    for form in patching.forms:
        word = run.experiment.encode(form.form, form.language)
        word = word[: len(word) - (run.experiment.decode(word[-1:]).strip() == "")]
        assert abs(logprob(word) - form.unpatched) < 1e-4
        for layer, module in enumerate(modules):
            for column, position in enumerate(patching.positions):

                def replace(_module: Any, _given: Any, output: Any) -> None:
                    states = output[0] if isinstance(output, tuple) else output
                    states[0, position.at] = donor[position.donor_at, layer]

                hook = module.register_forward_hook(replace)
                patched = logprob(word)
                hook.remove()
                assert abs(patched - form.unpatched - form.effects[layer, column]) < 1e-4, (layer, position)


def test_a_patch_with_itself_changes_nothing(run: invitro.Run) -> None:
    patching = run.patch(language="B", donor="B", logprob=True)
    assert patching.against is None and len(patching.forms) == 1
    assert not patching.forms[0].effects.any() and patching.forms[0].effects.shape == (2, len(patching.positions))
    named = run.patch(patching.word, subject=patching.subject, against=run.patch().against)
    assert named.forms[0].effects.tolist() == run.patch().forms[0].effects.tolist()
    with pytest.raises(invitro.Error, match="neither a word of B or A nor a symbol"):
        run.patch("nothing")
