"""Answers as documents: markdown, JSON, CSV and plain tables."""
