"""What a person has set for all their traces: family rules, GPU rows, frames to skip."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import polars as pl

from traceview.analysis.callsites import FRAMEWORK
from traceview.analysis.families import Rule, load_rules
from traceview.analysis.gpus import Entry, load_table
from traceview.errors import TraceError

FOLDER = "TRACEVIEW_CONFIG_DIR"  # the environment variable that names another folder


@dataclass(frozen=True)
class Settings:
    """rules: of families (None: the built-in ones); gpus: rows tried before the built-in table's;
    skip_frames: regular expressions of Python frames that are never shown as a call site.
    """

    rules: tuple[Rule, ...] | None = None
    gpus: tuple[Entry, ...] = ()
    skip_frames: tuple[str, ...] = FRAMEWORK


BUILT_IN = Settings()


def settings_folder() -> Path:
    """Where the person's files are looked for."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else platformdirs.user_config_path("traceview", appauthor=False)


def user_settings() -> Settings:
    """The settings in families.toml, gpus.toml and frames.toml of the settings_folder, each optional.

    Raises TraceError (exit code 2), naming the file, where one cannot be read or holds something else.
    """
    folder = settings_folder()
    families, gpus, frames = (folder / f"{name}.toml" for name in ("families", "gpus", "frames"))
    return Settings(
        load_rules(families) if families.exists() else None,
        load_table(gpus) if gpus.exists() else (),
        (*_skipped(frames), *FRAMEWORK) if frames.exists() else FRAMEWORK,
    )


def _skipped(path: Path) -> tuple[str, ...]:
    """The list `skip` of a file: regular expressions, looked for anywhere in `file.py(line): function`."""
    try:
        patterns = tomllib.loads(path.read_text("utf-8")).get("skip", [])
        if not (isinstance(patterns, list) and all(isinstance(p, str) for p in patterns)):
            raise ValueError("skip must be a list of texts")
        return tuple(_pattern(text) for text in patterns)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}", exit_code=2) from None
    except ValueError as error:  # a TOML or UTF-8 fault is one
        raise TraceError(f"{path}: not a list of frames to skip: {error}", exit_code=2) from None


def _pattern(text: str) -> str:
    """The text where polars can search with it: its regular expressions know no look-around."""
    try:
        pl.Series([""]).str.contains(text)
    except pl.exceptions.ComputeError:
        raise ValueError(f"{text!r} is no regular expression of Rust's kind") from None
    return f"(?:{text})"  # a flag in it holds for it alone
