"""The peer's context compiler, velesdb 7.0.0, timed; run by ``benchmarks.compile_context``.

Reads requests as JSON lines ``{"tool", "request"}``, answers each with the milliseconds it
took and what was compiled. Runs in an environment of its own that has velesdb and nothing
of ours.
"""

import json
import os
import sys
import tempfile
import time


def main() -> None:
    """Answer until the end of the input."""
    os.environ["VELESDB_MEMORY_QUIET"] = "1"
    from velesdb import MemoryService

    with tempfile.TemporaryDirectory() as folder:
        memory = MemoryService(folder)
        for line in sys.stdin:
            call = json.loads(line)
            tool = getattr(memory, call["tool"])
            started = time.perf_counter()
            try:
                answer = tool(call["request"])
            except Exception as error:
                print(json.dumps({"error": str(error)}), flush=True)
                continue
            taken = (time.perf_counter() - started) * 1000
            compiled = answer.get("context", answer)
            print(json.dumps({"ms": taken, "content": compiled["content"]}), flush=True)


if __name__ == "__main__":
    main()
