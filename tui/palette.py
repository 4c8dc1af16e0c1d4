"""The palette (ctrl+p): every command of the screen, with its key."""

from collections.abc import Iterator

from textual.command import DiscoveryHit, Hit, Hits, Provider

from traceview.tui.commands import EVERYWHERE, Command


class Commands(Provider):
    """The commands of the screen that the palette was opened on."""

    @property
    def _commands(self) -> Iterator[Command]:
        for command in (*getattr(self.screen, "HAS", ()), *EVERYWHERE):
            if command.action != "app.command_palette":
                yield command

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in self._commands:
            yield DiscoveryHit(command.title, self._run(command), help=command.key_text)

    async def search(self, query: str) -> Hits:
        """Those whose title resembles what is typed."""
        matcher = self.matcher(query)
        for command in self._commands:
            score = matcher.match(command.title)
            if score > 0:
                yield Hit(score, matcher.highlight(command.title), self._run(command), help=command.key_text)

    def _run(self, command: Command):  # type: ignore[no-untyped-def]
        async def run() -> None:
            await self.screen.run_action(command.action)

        return run
