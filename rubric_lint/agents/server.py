"""Run the server: list the tools, answer calls one at a time, and turn every error into an answer."""

import gc
import json
import logging
import threading
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.from_thread
from mcp import types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from rubric_lint.agents.roots import CRASHED, Roots, ToolAnswer, ToolError
from rubric_lint.agents.tools import BY_TOOL_NAME, TOOLS, Tool, check_arguments
from rubric_lint.lint.project.writing import WriteError
from rubric_lint.lint.run.console import report_crash
from rubric_lint.model.messages import UserError, make_whole, point_to_known, visible, whole
from rubric_lint.version import __version__


async def _relay(reading: Any, relayed: Any, writing: Any) -> None:
    """Pass messages on, and answer each request among them that cannot be read."""
    async with reading, relayed:
        async for item in reading:
            answer = _refuse_request(item) if isinstance(item, Exception) else None
            if answer:
                await writing.send(SessionMessage(answer))
            await relayed.send(item)


def _refuse_request(fault: Exception) -> types.JSONRPCError | None:
    """Return the answer to a request that cannot be read; None for what is not a request, or has no readable id."""
    if not isinstance(fault, ValidationError):
        return None
    error = fault.errors(include_url=False)[0]
    message: Any = error["input"]
    reason = error["msg"].removeprefix("Invalid JSON: ")
    is_text = isinstance(message, str)
    if is_text:
        try:
            message = json.loads(message)  # unlike the MCP package, it reads half characters and deep nesting
        except (ValueError, RecursionError):
            return None
    number = message.get("id") if isinstance(message, dict) and "method" in message else None
    if isinstance(number, bool) or not isinstance(number, str | int):
        return None
    what = "not JSON that can be read" if is_text else "not a request of JSON-RPC"
    code = types.PARSE_ERROR if is_text else types.INVALID_REQUEST
    error_data = types.ErrorData(code=code, message=f"rubric-lint: the request is {what}: {reason}")
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error_data)


def answer_call(roots: Roots, name: str, given: Mapping[str, Any]) -> ToolAnswer:
    """Return the answer of the tool `name` to some arguments, which are not checked yet.

    Raises:
        ToolError: for whatever is wrong; no other exception, so that no call ends the server.
    """
    try:
        tool = BY_TOOL_NAME.get(name)
        if tool is None:
            raise ToolError(f"unknown tool `{name}`; {point_to_known(name, BY_TOOL_NAME)}")  # noqa: TRY301
        check_arguments(given, tool.schema)
        text, data = tool.answer(roots, given)
        # Escapes in files and names that are not UTF-8 may hold half characters, which cannot be sent.
        return ToolAnswer(whole(text), make_whole(data))
    except (ToolError, UserError, WriteError) as wrong:
        message = str(wrong)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        message = f"{wrong.filename}: {reason}" if wrong.filename else reason
    except Exception as fault:
        report_crash(fault)
        message = f"{CRASHED}: {type(fault).__name__}: {fault}"
    finally:
        gc.unfreeze()  # runs of the linter exempt from collection what they find, and this program does not end
    raise ToolError("\n".join(map(visible, message.split("\n"))))


INSTRUCTIONS = (
    "Tools for LLM-judge rubrics in YAML and JSON. After you write or change a rubric, call lint; then fix (it shows "
    "the diff; write=true applies it), and change by hand what is left. explain tells what a rule means."
)


def serve(roots: Roots) -> None:
    """Answer calls over stdin and stdout until the client disconnects."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    anyio.run(_serve, roots)


def _describe_tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.name == "fix",
            idempotent_hint=tool.name != "init",
            open_world_hint=False,
        ),
    )


async def _serve(roots: Roots) -> None:
    """Run the protocol over stdin and stdout; calls run in a thread, one after the other."""
    one_at_a_time = anyio.CapacityLimiter(1)
    turn = threading.Lock()  # the limiter does not wait for the thread of a cancelled call

    def call_in_turn(name: str, given: Mapping[str, Any]) -> types.CallToolResult:
        with turn:
            anyio.from_thread.check_cancelled()  # what was cancelled before its turn must not write files
            try:
                answer = answer_call(roots, name, given)
            except ToolError as wrong:
                return types.CallToolResult(content=[types.TextContent(text=str(wrong))], is_error=True)
            return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=answer.data)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe_tool(tool) for tool in TOOLS])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        # In a thread, so that the server stays responsive.
        return await anyio.to_thread.run_sync(
            call_in_turn, params.name, params.arguments or {}, limiter=one_at_a_time, abandon_on_cancel=True
        )

    server: Server[Any] = Server(
        "rubric-lint",
        version=__version__,
        title="rubric-lint",
        instructions=INSTRUCTIONS,
        website_url="https://rubric-lint.github.io/",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (reading, writing), anyio.create_task_group() as tasks:
        relayed, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
        tasks.start_soon(_relay, reading, relayed, writing)
        await server.run(received, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()
