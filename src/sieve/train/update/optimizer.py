"""Adam over two groups of parameters, the translation model's and the selection head's.

Each group is clipped by its own norm and has its own rate, so that the head never touches the
model. float32 weights whatever the precision of the forward pass; float16 gradients are scaled.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.autograd.graph import increment_version

from sieve.model.transformer import TranslationModel
from sieve.train.config import TrainingConfig

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")
_SCALE = ("scale", "_growth_tracker")


class Optimizer:
    """Adam, clipping and loss scaling in one step."""

    def __init__(self, model: TranslationModel, config: TrainingConfig) -> None:
        self.config = config
        device = next(model.parameters()).device
        trained = set(trained_parameters(model, config))
        self._names = {p: name for name, p in model.named_parameters() if p in trained}
        parts = (
            (model.translation_parameters(), 1.0),
            (model.nvs_parameters(), config.nvs_learning_rate_factor),
        )
        groups = [
            {"params": [p for p in part if p in trained], "factor": factor}
            for part, factor in parts
        ]
        groups = [group for group in groups if group["params"]]
        beta1, beta2 = config.adam_betas
        self._adam = torch.optim.Adam(
            groups, lr=config.learning_rate, betas=(beta1, beta2), eps=config.adam_eps, fused=True
        )
        scaled = config.precision == "float16"
        self._scaler = torch.amp.GradScaler(device.type, enabled=scaled)

    @property
    def parameters(self) -> list[nn.Parameter]:
        """Every trained parameter, in a fixed order."""
        return list(self._names)

    def scale(self, loss: Tensor) -> Tensor:
        """The loss to run backward from."""
        return self._scaler.scale(loss)

    def step(self, rate: float) -> list[Tensor]:
        """Clips, moves the weights, forgets the gradients; returns each group's gradient norm."""
        self._scaler.unscale_(self._adam)
        norms = []
        limit = self.config.clip_norm or float("inf")
        for group in self._adam.param_groups:
            group["lr"] = rate * group["factor"]
            norms.append(nn.utils.clip_grad_norm_(group["params"], limit))
        self._scaler.step(self._adam)
        self._scaler.update()
        for group in self._adam.param_groups:
            for parameter in group["params"]:  # Adam's fused kernel does not count the change
                increment_version(parameter)
        self.clear()
        return norms

    def clear(self) -> None:
        """Forgets the gradients."""
        self._adam.zero_grad(set_to_none=True)

    def tensors(self) -> dict[str, Tensor]:
        """The moments, by kind and parameter name, and the loss scale of float16."""
        moments = {
            f"{kind}.{name}": self._adam.state[parameter][kind]
            for parameter, name in self._names.items()
            if parameter in self._adam.state
            for kind in _MOMENTS
        }
        scaler = self._scaler.state_dict()  # empty unless float16
        return moments | {
            f"scaler.{key}": torch.tensor(scaler[key], dtype=torch.float64)
            for key in _SCALE
            if key in scaler
        }

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes them back."""
        for parameter, name in self._names.items():
            if f"step.{name}" in tensors:
                self._adam.state[parameter] = {
                    kind: tensors[f"{kind}.{name}"].to(parameter.device) for kind in _MOMENTS
                }
        if self._scaler.is_enabled() and f"scaler.{_SCALE[0]}" in tensors:
            scale, growth = (tensors[f"scaler.{key}"].item() for key in _SCALE)
            values = dict(zip(_SCALE, (scale, int(growth)), strict=True))
            self._scaler.load_state_dict({**self._scaler.state_dict(), **values})


def trained_parameters(model: TranslationModel, config: TrainingConfig) -> list[nn.Parameter]:
    """The parameters that training moves."""
    head = model.nvs_parameters()
    return head if config.parts == "head" else [*model.translation_parameters(), *head]
