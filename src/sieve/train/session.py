"""One session of a run: starts or resumes it, and leaves a model directory at its end."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

import sieve
from sieve.data.batching import BatchingOptions
from sieve.errors import ConfigError, InputError
from sieve.files import read_json, write_json
from sieve.log import logger
from sieve.model.checkpoint import save_model
from sieve.model.transformer import TranslationModel
from sieve.selection.dial import DEFAULT_THRESHOLD
from sieve.train.config import RunConfig, TrainingConfig, check_resumable, parse_run_config
from sieve.train.distributed import Processes, join
from sieve.train.loop import DivergedError, Hooks, run
from sieve.train.metrics import Metrics
from sieve.train.setup import TrainingData, build_model, merged, open_data
from sieve.train.state import Progress, RunDirectory, better
from sieve.train.update.loader import Loader, LoaderOptions
from sieve.train.update.schedule import Schedule
from sieve.train.update.trainer import Trainer
from sieve.train.validate import Validation, validate


def train(output: Path, given: Mapping[str, Any], data: TrainingData | None = None) -> int:
    """Trains a run to the end of its budget; resumes where an earlier session stopped.

    Args:
        output: The run directory.
        given: Explicit settings, nested as in the TOML file; the saved ones fill the gaps.
        data: Training data that is already open; by default that of the configuration.

    Returns:
        0, or the number of the signal that stopped the session after a checkpoint.
    """
    directory = RunDirectory(output)
    resumed = directory.started()
    config = _resolve(directory, given, resumed)
    config.training.check_budget()
    device = choose_device(config.training)
    processes = join(device.type == "cuda")
    try:
        if device.type == "cuda" and processes.size > 1:
            device = torch.device("cuda", processes.local_rank)
        return _Session(directory, config, processes).run(device, data)
    except (OSError, SafetensorError) as error:
        if "space" not in str(error) and "quota" not in str(error):
            raise
        raise InputError(
            f"{output}: the disk is full; make room and rerun the command ({error})"
        ) from None
    finally:
        directory.release()
        processes.close()


def choose_device(config: TrainingConfig) -> torch.device:
    """The device that the configuration names, if this machine has it."""
    available = torch.cuda.is_available()
    if config.device == "cuda" and not available:
        raise ConfigError("training.device: got cuda, but torch finds no GPU; use cpu or auto")
    return torch.device("cuda" if available and config.device != "cpu" else "cpu")


def _resolve(directory: RunDirectory, given: Mapping[str, Any], resumed: bool) -> RunConfig:
    if not resumed:
        return parse_run_config(given)
    saved = parse_run_config(read_json(directory.config_file)["run"])
    now = parse_run_config(merged(saved.plain(), given))
    check_resumable(saved, now, directory.path)
    return now


@dataclass
class _Session:
    """The parts of a session that its steps share."""

    directory: RunDirectory
    config: RunConfig
    processes: Processes

    def run(self, device: torch.device, data: TrainingData | None) -> int:
        config, first = self.config, self.processes.first
        if data is None:
            data = open_data(config.data)
        self._check_alignment(data)
        model = build_model(config, data)
        if first:
            self.directory.create()  # not before all settings and data have proved sound
        model = model.to(device)
        trainer = Trainer(model, config.training, self._loader(data, device), self._schedule())
        self._prepare_device(model, device)
        metrics = None
        self._restore(trainer)
        if first:
            write_json(
                self.directory.config_file, {"sieve": sieve.__version__, "run": config.plain()}
            )
            progress = trainer.progress
            metrics = Metrics(
                self.directory.metrics_file, progress.metrics_bytes, progress.update + 1
            )
            self._announce(trainer, model)
        try:
            stopped = run(trainer, self._hooks(trainer, data), self.processes, metrics)
        except DivergedError as error:
            state = self.directory.newest_state()
            raise DivergedError(f"{error}; last good checkpoint: {state or 'none'}") from None
        finally:
            if metrics is not None:
                metrics.close()
        if first and not stopped:
            self._save(self.directory.model, model, data, trainer.progress)
        return stopped

    def _check_alignment(self, data: TrainingData) -> None:
        weight = self.config.training.alignment_weight
        if weight > 0 and not data.links:
            raise ConfigError(
                f"training.alignment_weight: got {weight} but no alignments; "
                "give one Pharaoh file for each corpus in data.alignments"
            )

    def _loader(self, data: TrainingData, device: torch.device) -> Loader:
        training = self.config.training
        batching = BatchingOptions(
            training.batch_tokens, training.device_tokens, training.length_multiple, training.seed
        )
        processes = self.processes
        options = LoaderOptions(
            batching, processes.rank, processes.size, training.workers, device.type == "cuda"
        )
        links = data.links if training.alignment_weight > 0 else ()
        return Loader(data.mixture, options, links)

    def _schedule(self) -> Schedule:
        training = self.config.training
        ramp = training.rewarmup if self.config.init_from else None
        return Schedule(training.schedule, training.learning_rate, training.warmup, ramp)

    def _prepare_device(self, model: TranslationModel, device: torch.device) -> None:
        if device.type == "cuda":
            torch.set_float32_matmul_precision("high")
            # cuDNN plans its attention anew for every shape, and every unit has another shape
            torch.backends.cuda.enable_cudnn_sdp(False)
        if self.config.training.compile:
            model.compile_layers()

    def _restore(self, trainer: Trainer) -> None:
        state = self.directory.newest_state()
        if state is None:
            return
        progress, tensors = self.directory.read_state(state)
        with torch.no_grad():
            for name, parameter in trainer.model.named_parameters():
                parameter.copy_(tensors[f"model.{name}"])
        trainer.optimizer.load_tensors(tensors)
        trainer.progress = progress
        if self.processes.first:
            self.directory.tidy(progress)
            logger.info("resuming after update %d (%s)", progress.update, state)

    def _announce(self, trainer: Trainer, model: TranslationModel) -> None:
        plan = trainer.loader.plan(trainer.progress.epoch)
        units = len(plan.unit_offsets) - 1
        head = sum(p.numel() for p in model.nvs_parameters())
        total = head + sum(p.numel() for p in model.translation_parameters())
        logger.info(
            "%d pairs, %d target tokens an epoch; %d updates of %.0f tokens in %.1f units on %s",
            len(plan.order),
            int(plan.update_tokens.sum()),
            plan.num_updates,
            float(plan.update_tokens.mean()),
            units / plan.num_updates,
            trainer.device,
        )
        logger.info("%.1f M parameters, %.1f M of them in the NVS head", total / 1e6, head / 1e6)
        if not self.config.data.valid_src:
            logger.info("no validation text (--valid): no checkpoints are ranked and kept")
        if self.processes.size > 1 and round(units / plan.num_updates) % self.processes.size:
            logger.warning(
                "an update has %d units for %d processes: some wait; choose "
                "training.device_tokens so that the units can be dealt evenly",
                round(units / plan.num_updates),
                self.processes.size,
            )

    def _hooks(self, trainer: Trainer, data: TrainingData) -> Hooks:
        config = self.config.training

        def measure() -> Validation | None:
            if data.valid is None or not self.processes.first:
                return None
            return validate(
                trainer.model,
                data.valid,
                config.precision,
                head_only=config.parts == "head",
                with_bleu=config.bleu,
            )

        def checkpoint(progress: Progress, validation: Validation | None) -> None:
            if self.processes.first:
                self._checkpoint(trainer, data, validation)
            self.processes.decide([0.0])  # the others wait here

        return Hooks(measure, checkpoint)

    def _checkpoint(
        self, trainer: Trainer, data: TrainingData, validation: Validation | None
    ) -> None:
        progress, directory = trainer.progress, self.directory
        if validation is not None:
            best = better(
                progress.best, validation.score, progress.update, self.config.training.keep_best
            )
            progress.best = best
            if any(ranked.update == progress.update for ranked in best):
                target = directory.checkpoint(progress.update)
                self._save(target, trainer.model, data, progress, validation)
        tensors = {f"model.{name}": p for name, p in trainer.model.named_parameters()}
        directory.write_state(progress, {**tensors, **trainer.optimizer.tensors()})

    def _save(
        self,
        target: Path,
        model: TranslationModel,
        data: TrainingData,
        progress: Progress,
        validation: Validation | None = None,
    ) -> None:
        training = {"update": progress.update, "tokens": progress.tokens, **self.config.plain()}
        training["minutes"] = round(progress.seconds / 60, 3)
        if validation is not None:
            training["validation"] = validation.plain()
        metadata: dict[str, Any] = {"languages": list(data.languages), "training": training}
        if model.nvs is not None:
            metadata["selection"] = {"threshold": DEFAULT_THRESHOLD}
        save_model(target, model, data.tokenizers, metadata)
