"""What a person has narrowed the trace down to. Frozen: a change is a new selection."""

import re
from dataclasses import dataclass
from typing import Any

from traceview.errors import TraceError

PHASES = ("prefill", "decode", "mixed", "idle")


@dataclass(frozen=True)
class Selection:
    """Steps (positions from 0; None is all, outside included), phase and device. All must hold."""

    steps: tuple[int, ...] | None = None
    phase: str | None = None
    device: int | None = None

    @property
    def everything(self) -> bool:
        """True where nothing is narrowed."""
        return self == Selection()

    def as_dict(self) -> dict[str, Any]:
        """The selection as the JSON contract spells it."""
        return {
            "steps": None if self.steps is None else list(self.steps),
            "phase": self.phase,
            "device": self.device,
        }

    def options(self) -> list[str]:
        """The command line's options that select the same."""
        words: list[str] = []
        if self.steps is not None:
            first, last = self.steps[0], self.steps[-1]
            whole = self.steps == tuple(range(first, last + 1))
            words += ["--steps", f"{first}:{last + 1}" if whole else ",".join(map(str, self.steps))]
        if self.phase is not None:
            words += ["--phase", self.phase]
        if self.device is not None:
            words += ["--device", str(self.device)]
        return words


EVERYTHING = Selection()


def parse_steps(text: str, names: list[str]) -> tuple[int, ...]:
    """Positions meant by `3`, `3:10` (half-open), `1:`, `2,5,7` or `#12` (the marker's own number).

    `names` are the step names in order. Raises TraceError (wrong usage) where the text is not of these
    forms or names no step of the trace.
    """
    count = len(names)
    number = r"\d{1,18}"  # longer ones name no step
    if found := re.fullmatch(r"#(\d+)", text):
        chosen = [i for i, name in enumerate(names) if name.endswith(f"#{found[1]}")]
    elif found := re.fullmatch(rf"(-?{number})?:(-?{number})?", text):
        begin, end = (int(part) if part else None for part in found.groups())
        chosen = list(range(count))[begin:end]
    elif re.fullmatch(rf"{number}(,{number})*", text):
        chosen = sorted({int(part) for part in text.split(",")})
        if chosen[-1] >= count:
            chosen = []
    else:
        raise TraceError(f"--steps {text}: not of the form 3, 3:10, 1:, 2,5,7 or #12", exit_code=2)
    if not chosen:
        raise TraceError(
            f"--steps {text}: no such step; the trace has {count} (0 to {count - 1})", exit_code=2
        )
    return tuple(chosen)


def steps_text(steps: tuple[int, ...] | None, count: int) -> str:
    """The selected steps in words: `all 30 steps`, `step 4`, `steps 3:10`, `steps 1, 4, 9`."""
    if steps is None:
        return "the whole trace" if count == 1 else f"all {count} steps"
    if len(steps) == 1:
        return f"step {steps[0]}"
    if steps == tuple(range(steps[0], steps[-1] + 1)):
        return f"steps {steps[0]}:{steps[-1] + 1}"
    shown = ", ".join(map(str, steps[:6]))
    return f"steps {shown}" + (", ..." if len(steps) > 6 else "")
