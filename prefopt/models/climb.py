"""Hyper-parameters of a model of GPyTorch modules: the climb to the top of evidence times priors."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


def climb(model: Any, modules: Iterable[Any], iterations: int) -> None:
    """Maximise evidence plus log priors over the trainable parameters of ``model`` (L-BFGS, deterministic).

    A climb that fails leaves the parameters as they were and warns, in the name of who called ``model.fit``.

    Args:
        model: has ``evidence()``, the log of p(answers), with gradients along its parameters.
        modules: those whose priors count.
        iterations: at most so many.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    before = [p.detach().clone() for p in parameters]
    optimiser = torch.optim.LBFGS(parameters, max_iter=iterations, line_search_fn="strong_wolfe")
    owners = list(modules)

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss: Tensor = -model.evidence()
        for owner in owners:
            for _, module, prior, value, _ in owner.named_priors():
                loss = loss - prior.log_prob(value(module)).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    try:
        with torch.enable_grad():
            optimiser.step(closure)  # type: ignore[no-untyped-call]
        failed = not all(bool(torch.isfinite(p).all()) for p in parameters)
    except (RuntimeError, ValueError):  # a factorisation failed; linear algebra errors are one or the other
        failed = True
    if failed:
        for p, old in zip(parameters, before, strict=True):
            p.data.copy_(old)
        warnings.warn("the fit failed; the hyper-parameters are unchanged", RuntimeWarning, stacklevel=3)
