"""The command line: one file per command, imported only when it is run."""

import importlib
import sys
from typing import Final

import click

from veles_core import __version__
from veles_core.errors import VelesError

COMMANDS: Final = {
    "serve": "serve",
    "plugins": "plugins",
    "status": "status",
    "check": "check",
    "export": "export",
    "import": "import_",
    "copy": "copy",
    "migrate-embeddings": "migrate_embeddings",
    "compile-stdin": "compile_stdin",
    "demo": "demo",
}


class Commands(click.Group):
    """A group whose commands are modules of this package; without a name it serves."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"veles_core.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command


@click.group(cls=Commands, invoke_without_command=True)
@click.version_option(__version__, prog_name="veles-memory")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Veles Memory: the durable, explainable memory of AI agents.

    Without a command it serves MCP over standard input and output. It is configured by
    environment variables; see the README.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(group.get_command(ctx, "serve"))  # type: ignore[arg-type]


def main() -> None:
    """Run the command line; an expected failure is one sentence and exit status 1."""
    try:
        group.main(prog_name="veles-memory", standalone_mode=True)
    except VelesError as error:
        click.echo(f"veles-memory: {error.message}", err=True)
        sys.exit(1)
