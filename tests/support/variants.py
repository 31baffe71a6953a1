"""Models with the variants that other toolkits' models have, all of them random."""

from dataclasses import replace

from generated_models import SMALL

from sieve.bundle.config import ModelConfig

MARIAN = replace(
    SMALL,
    tie="all",
    nvs_head="none",
    norm="post",
    norm_epsilon=1e-6,
    position_step="half_minus_one",
    start=None,
    eos=0,
    pad=None,
    unk=1,
    never=(1,),
)
"""A student of Firefox or Bergamot."""
OPUS = replace(
    SMALL,
    nvs_head="none",
    decoder_mixer="attention",
    norm="post",
    activation="swish",
    start=89,
    pad=89,
    eos=0,
    unk=1,
    never=(89, 1),
)
"""OPUS-MT as in transformers."""
VARIANTS: dict[str, ModelConfig] = {
    "marian": MARIAN,
    "marian, own vocabularies": replace(MARIAN, tie="output", src_vocab_size=130),
    "marian, gelu, attention": replace(
        MARIAN, activation="gelu", decoder_mixer="attention", norm_epsilon=1e-9, never=()
    ),
    "marian, untied, odd sizes": replace(
        MARIAN, tie="none", d_model=36, heads=6, d_ff=70, activation="swish", decoder_layers=3
    ),
    "opus": OPUS,
    "opus, many never": replace(OPUS, never=tuple(range(40, 90)), tie="all"),
    "m2m": replace(
        SMALL,
        nvs_head="none",
        decoder_mixer="attention",
        tie="all",
        position_step="half_minus_one",
        position_offset=2,
        start=2,
        pad=1,
        unk=3,
        never=(1, 3),
        forced_start=(77,),
    ),
    "no scale": replace(SMALL, embedding_scale=False, activation="gelu", eos=50, start=51),
    "pre-norm, swish, zero start, head": replace(SMALL, activation="swish", start=None, eos=7),
    "post-norm, full head": replace(SMALL, norm="post", nvs_head="full", never=(0, 1, 3)),
    "heads of the first layer": replace(
        MARIAN, alignment_layer=0, alignment_heads=(1, 3), decoder_mixer="attention"
    ),
    "another head": replace(OPUS, alignment_heads=(2,)),
}
# seeds with which translations have several different tokens, some end and some are cut
SEEDS = dict(zip(VARIANTS, (136, 49, 51, 93, 78, 51, 112, 126, 87, 95, 38, 78), strict=True))
