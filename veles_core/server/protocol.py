"""The MCP server over a service: the table of tools spoken through the SDK.

The SDK frames, negotiates and routes; arguments are checked here, because its own checks
answer without a reason. Both protocol eras are served: the handshake and 2026-07-28.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import mcp_types as mcp
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import ValidationError

from veles_core import __version__
from veles_core.errors import InvalidInput
from veles_core.server.errors import on_the_wire
from veles_core.server.instructions import INSTRUCTIONS
from veles_core.server.tools import TOOLS, Tool
from veles_core.wire.arguments import nearest, read
from veles_core.wire.slots import excerpt

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService

NAME: Final = "veles-memory"
MAX_CONCURRENT_CALLS: Final = 64  # calls that wait for a remote backend must not starve the rest

Context = ServerRequestContext[Any, Any]


def memory_server(
    service: "Callable[[], MemoryService]", tools: Sequence[Tool] = TOOLS
) -> Server[Any]:
    """An MCP server of ``tools`` over a service.

    ``service`` is called in a worker thread by each call, so it may wait until the
    service is open; what it raises is what the call answers.
    """
    by_name = {tool.name: tool for tool in tools}
    workers = ThreadPoolExecutor(MAX_CONCURRENT_CALLS, thread_name_prefix="veles-call")

    def answer(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        given = read(tool.arguments, arguments)
        answered: Mapping[str, Any] = tool.handler(service(), given)
        return answered

    async def list_tools(
        _context: Context, _params: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[advertised(tool) for tool in tools])

    async def call_tool(_context: Context, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        with on_the_wire():
            tool = by_name.get(params.name)
            if tool is None:
                raise InvalidInput(
                    f"there is no tool {excerpt(params.name)}{nearest(params.name, by_name)}",
                    field="name",
                )
            loop = asyncio.get_running_loop()
            return result(await loop.run_in_executor(workers, answer, tool, params.arguments or {}))

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.append(_check_call)
    return server


def advertised(tool: Tool) -> mcp.Tool:
    """A row of the table as ``tools/list`` shows it."""
    behaviour = tool.behaviour
    return mcp.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=mcp.ToolAnnotations(
            read_only_hint=behaviour.read_only,
            destructive_hint=behaviour.destructive,
            idempotent_hint=behaviour.idempotent,
            open_world_hint=False,
        ),
    )


def result(answer: Mapping[str, Any]) -> mcp.CallToolResult:
    """An answer as structured content, and as text the same JSON for clients that show text."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return mcp.CallToolResult(
        content=[mcp.TextContent(type="text", text=text)], structured_content=dict(answer)
    )


async def _check_call(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Refuse a malformed ``tools/call`` with a reason, before the SDK does without one."""
    if ctx.method != "tools/call":
        return await call_next(ctx)
    with on_the_wire():
        _check_params(ctx.params or {})
        try:
            return await call_next(ctx)
        except ValidationError:
            raise InvalidInput("the parameters of tools/call are malformed") from None


def _check_params(params: Mapping[str, Any]) -> None:
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise InvalidInput(f"name must be the name of a tool, not {excerpt(name)}", field="name")
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidInput(
            f"arguments must be an object, not {excerpt(arguments)}", field="arguments"
        )
