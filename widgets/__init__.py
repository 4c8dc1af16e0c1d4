"""Drawn things that know no trace: frames in, messages out."""
