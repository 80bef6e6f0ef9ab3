"""`autodiff serve`: the Model Context Protocol, by messages as typed and by the protocol's own
client library.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import gradient
from autodiff_cli.capabilities.serve.serve import MAX_MESSAGE_BYTES, Server, call_tool, tools
from autodiff_cli.cli.declarations import QUESTIONS

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def _served(*lines: str, args: tuple[str, ...] = ()) -> list[Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "autodiff_cli", "serve", *args],
        input="".join(f"{line}\n" for line in lines).encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    result = call_tool(name, arguments)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result


def test_a_session_of_messages() -> None:
    answers = _served(
        json.dumps(INITIALIZE),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": "a", "method": "ping"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "grad",'
        ' "arguments": {"expr": "x**2*y", "at": {"x": 3, "y": "1/2"}}}}',
    )
    assert [each["id"] for each in answers] == [0, "a", 1, 2]
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[0]["result"]["capabilities"] == {"tools": {"listChanged": False}}
    assert answers[1]["result"] == {}
    listed = {tool["name"]: tool for tool in answers[2]["result"]["tools"]}
    assert (
        {"grad", "hessian", "solve", "fit", "propagate", "export", "units"}
        <= listed.keys()
        <= {*QUESTIONS}
    )
    schema = listed["grad"]["inputSchema"]
    assert schema["required"] == ["expr"] and schema["properties"]["precision"]["type"] == "integer"
    result = answers[3]["result"]
    assert result["isError"] is False
    assert result["structuredContent"]["gradient"] == {"x": 3.0, "y": 9.0}


def test_messages_that_are_wrong_have_the_codes_of_json_rpc() -> None:
    cases = {
        "junk": -32700,
        "[" * 100_000: -32700,
        "[]": -32600,
        '{"jsonrpc": "1.0", "id": 1, "method": "ping"}': -32600,
        '{"jsonrpc": "2.0", "id": 1}': -32600,
        '{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}': -32601,
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "repl"}}': -32602,
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "serve"}}': -32602,
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}': -32602,
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "grad", "arguments": [1]}}': (
            -32602
        ),
    }
    answers = _served(
        *cases,
        "",
        '{"jsonrpc": "2.0", "method": "nothing"}',
        '{"jsonrpc": "2.0", "id": 9, "result": {}}',
    )
    assert [each["error"]["code"] for each in answers] == [*cases.values()]
    long = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * MAX_MESSAGE_BYTES}}
    )
    refused, answered = _served(long, '{"jsonrpc": "2.0", "id": 2, "method": "ping"}')
    assert refused["error"]["code"] == -32700 and answered["result"] == {}


def test_mistakes_of_calls_are_results_that_say_what_to_write() -> None:
    for name, arguments, part in (
        ("grad", {"expr": "log(x)", "at": {"x": -1}}, "`log` is undefined at -1"),
        ("grad", {"expr": "x", "pont": 1}, "`grad` has no argument `pont`"),
        ("grad", {"expr": "x +", "at": {"x": 1}}, ""),
        ("grad", {"expr": "x"}, "`x` has no value"),
        ("grad", {"expr": "x", "at": {"x": None}}, "numbers and texts, not null"),
        ("grad", {"expr": "x", "at": {"x": True}}, "numbers and texts, not true"),
        ("grad", {"expr": "x", "at": {"x": float("nan")}}, ""),
        ("grad", {"at": {"x": 1}}, ""),
        ("grad", {"expr": 3}, "`expr` is a text"),
        ("grad", {"expr": "-", "at": "x=1"}, "`expr` is a text"),
        ("grad", {"expr": "x", "exact": "yes", "at": "x=1"}, "`exact` is true or false"),
        ("grad", {"expr": "x", "precision": 10**9, "at": "x=1"}, ""),
        ("grad", {"expr": "x" * 200_000, "at": "x=1"}, "more than 100,000 characters"),
        ("grad", {"expr": "sin(" * 20_000, "at": "x=1"}, ""),
        ("fit", {"expr": "y = a*x", "data": {"x": [1], "y": [1, 2]}}, "lists of one length"),
        ("fit", {"expr": "y = a*x"}, ""),
        ("exercise", {"level": 99}, ""),
    ):
        result = _call(name, **arguments)
        error = result["structuredContent"]["error"]
        assert result["isError"] is True and error["message"] and part in error["message"], (
            arguments,
            error,
        )
        assert "Traceback" not in error["message"] and error["kind"] != "internal", (
            arguments,
            error,
        )


def test_no_call_reads_or_writes_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "point.json"
    secret.write_text('{"x": 3}')
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,2\n2,4\n")
    out = tmp_path / "out.json"
    for name, arguments in (
        ("grad", {"expr": "x**2", "at": f"@{secret}"}),
        ("grad", {"expr": "x**2", "at": [f"@{secret}"]}),
        ("grad", {"expr": "x**2", "at": [f"  @{secret}"]}),
        ("grad", {"expr": "x**2", "at": "x=1", "output": str(out)}),
        ("grad", {"expr": "x**2", "points": str(data)}),
        ("grad", {"expr": f"--file={secret}"}),
        ("grad", {"expr": ["x**2", "--at", f"@{secret}"]}),
        ("grad", {"expr": "x**2", "at": "x=1", "wrt": f"x --output {out}"}),
        ("fit", {"expr": "y = a*x", "data": str(data)}),
        ("fit", {"expr": "y = a*x", "data": [str(data)]}),
        ("fit", {"expr": "y = a*x", "data": {"x": [1, 2], "y": [2, 4]}, "predict": str(data)}),
        ("fit", {"expr": "y = a*x", "data": {"x": [1, 2], "y": [2, 4]}, "residuals": str(out)}),
        ("minimize", {"expr": "x**2", "at": "x=1", "save_point": str(out)}),
        ("minimize", {"expr": "x**2", "at": "x=1", "bounds": f"@{secret}"}),
        ("propagate", {"expr": "x", "fit": str(secret)}),
        ("propagate", {"expr": "x", "at": f"@{secret}"}),
    ):
        assert _call(name, **arguments)["isError"] is True, (name, arguments)
        assert not out.exists()
    allowed = call_tool("grad", {"expr": "x**2", "at": f"@{secret}"}, files=True)
    assert allowed["structuredContent"]["gradient"] == {"x": 6.0}
    assert "points" not in {*_schema("grad")} and "points" in {*_schema("grad", files=True)}


def _schema(name: str, *, files: bool = False) -> dict[str, Any]:
    listed = Server(files=files).result("tools/list", {})["tools"]
    properties: dict[str, Any] = next(tool for tool in listed if tool["name"] == name)[
        "inputSchema"
    ]["properties"]
    return properties


def test_answers_are_the_records_of_the_commands() -> None:
    rng = random.Random(1)
    for _ in range(20):
        a, b = rng.uniform(-2, 2), rng.uniform(0.5, 2)
        record = _call("grad", expr="sin(x*y)/y + x**2", at={"x": a, "y": b})["structuredContent"]
        expected = gradient("sin(x*y)/y + x**2", {"x": a, "y": b})
        assert record["value"] == expected.value and record["gradient"] == expected.gradient
    record = _call("fit", expr="y = a + b*x", data={"x": [0, 1, 2], "y": [1, 3, 5]})[
        "structuredContent"
    ]
    assert record["parameters"] == pytest.approx({"a": 1, "b": 2})
    record = _call(
        "grad", expr="(y - w*x)**2", at={"w": 1}, data={"x": [1, 2], "y": [2, 5]}, reduce="sum"
    )
    assert record["structuredContent"]["gradient"] == {"w": -14.0}
    assert _call("solve", expr="x**2 = 2")["isError"] is False
    assert "double" in _call("export", expr="x*y", to="c")["structuredContent"]["source"]
    # each tool's own example runs as a call with its formula
    assert {*tools()} == {*QUESTIONS}


def test_the_protocols_own_client_lists_and_calls() -> None:
    mcp = pytest.importorskip("mcp", reason="the client library of the protocol is not installed")
    import anyio
    from mcp.client.stdio import stdio_client

    async def talk() -> None:
        server = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "autodiff_cli", "serve"]
        )
        async with (
            stdio_client(server) as (reader, writer),
            mcp.ClientSession(reader, writer) as session,
        ):
            # its classes spell the names of the protocol in their own way
            greeted = (await session.initialize()).model_dump(by_alias=True)
            listed = (await session.list_tools()).model_dump(by_alias=True)
            assert greeted["serverInfo"]["name"] == "autodiff"
            assert "hessian" in {tool["name"] for tool in listed["tools"]}
            called = await session.call_tool("hessian", {"expr": "x**2*y", "at": {"x": 1, "y": 2}})
            result = called.model_dump(by_alias=True)
            assert result["isError"] is False
            assert result["structuredContent"]["hessian"] == [[4.0, 2.0], [2.0, 0.0]]
            failed = await session.call_tool("grad", {"expr": "log(x)", "at": {"x": -1}})
            assert failed.model_dump(by_alias=True)["isError"] is True
            await session.send_ping()

    anyio.run(talk)
