"""The queries of earlier days, one a line in the user's state folder."""

from pathlib import Path

from platformdirs import user_state_path

KEPT = 200


class History:
    """Queries, the newest last; one that is asked again moves to the end. A folder that cannot be written to
    costs the memory of them, nothing else.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_state_path("traceview") / "queries.txt"
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            lines = []
        self.entries = [line for line in lines if line.strip()][-KEPT:]

    def add(self, sql: str) -> None:
        """Remember a query."""
        line = " ".join(sql.split())
        self.entries = [*(e for e in self.entries if e != line), line][-KEPT:]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("".join(f"{e}\n" for e in self.entries), encoding="utf-8")
        except (OSError, UnicodeEncodeError):
            return
