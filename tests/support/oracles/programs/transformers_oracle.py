"""MarianMT in transformers, fp32 on one thread: greedy or beam search, scores of its own output."""

from typing import Any

import torch
from answering import Answer, serve, settings
from transformers import MarianMTModel, MarianTokenizer


def _search(beam: int, length: int) -> dict[str, Any]:
    """Options of a search for the best translation of a line with this many tokens.

    The defaults of beam search end where better ones could follow, and share what the padding
    would get among the other tokens.
    """
    if beam == 1:
        return {"num_beams": 1}
    options = {"early_stopping": "never", "renormalize_logits": False}
    return {"num_beams": beam, "max_new_tokens": 3 * length + 10, **options}  # our own limit


def main() -> None:
    """Answers with ids, text and the log-probability of each token, EOS included."""
    told = settings()
    torch.set_num_threads(1)
    model = MarianMTModel.from_pretrained(told["model"]).eval()
    tokenizer = MarianTokenizer.from_pretrained(told["model"])
    pad, eos = model.config.pad_token_id, model.config.eos_token_id

    @torch.no_grad()
    def translated(lines: list[str]) -> list[Answer]:
        batch = tokenizer(lines, return_tensors="pt", padding=True)
        output = model.generate(**batch, **_search(told["beam"], batch["input_ids"].shape[1]))
        logits = model(**batch, decoder_input_ids=output[:, :-1]).logits
        scores = logits.log_softmax(-1).gather(2, output[:, 1:, None])[:, :, 0]
        answers: list[Answer] = []
        for row, ids in enumerate(output.tolist()):
            written = ids[1:]
            end = written.index(eos) if eos in written else len(written)
            length = int(batch["attention_mask"][row].sum())
            answers.append(
                {
                    "source": batch["input_ids"][row, :length].tolist(),
                    "ids": [index for index in written[:end] if index != pad],
                    "text": tokenizer.decode(written[:end], skip_special_tokens=True),
                    "scores": scores[row, : end + 1].tolist(),
                }
            )
        return answers

    def answer(lines: list[str]) -> list[Answer]:
        if told["beam"] == 1:
            return translated(lines)
        return [translated([line])[0] for line in lines]  # each has its own limit

    serve(answer)


main()
