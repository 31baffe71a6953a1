"""Run by test_fused with TRITON_INTERPRET=1: layers of few rows against the plain ones."""

# private: the encoder without the choice of kernels; the step without the choice of kernels

import torch

from sieve.bundle.config import ModelConfig
from sieve.engines.torch import few_rows
from sieve.engines.torch.source_encoding import _encoder
from sieve.engines.torch.stepping import DecoderSteps
from sieve.kernels import few_rows_triton
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import EOS, PAD

SRC = torch.tensor([[5, 6, 7, 9, EOS], [8, EOS, PAD, PAD, PAD]])


def main() -> None:
    torch.manual_seed(0)
    config = ModelConfig(40, 40, encoder_layers=1, decoder_layers=2, d_model=48, d_ff=80, heads=3)
    model = TranslationModel(config).eval()
    for parameter in model.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    mask = torch.zeros(2, 1, 1, 5).masked_fill((SRC == PAD)[:, None, None], float("-inf"))
    x = model.embed_source(SRC)
    expected = _encoder(model.encoder, x, mask)
    memory = few_rows.encode(few_rows_triton, model, SRC, mask)
    torch.testing.assert_close(memory, expected, rtol=1e-4, atol=1e-4)
    plain, fast = (DecoderSteps(model, 2, 3, 5, 8) for _ in range(2))
    for one in (plain, fast):
        one.load(memory, SRC != PAD)
    for place in range(3):
        ids = torch.randint(3, 40, (6,))
        expected = plain.step(ids, place + 1)
        found = fast._few_rows(few_rows_triton, ids)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        for one in (plain, fast):
            one.settle(torch.tensor([1, 1, 0, 3, 5, 4]), place + 1)
            one.position += 1


if __name__ == "__main__":
    with torch.inference_mode():
        main()
