#!/bin/sh
# PostToolUse hook: a large result of an MCP tool is replaced by its compiled form.
# Prints nothing, so that the original stays, whenever anything is in doubt.

budget=${VELES_SHRINK_BUDGET:-2000}
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout ${VELES_SHRINK_SECONDS:-10}"

payload=$(cat)

# The text of the result; fails if it has none, holds a NUL, which no shell keeps, or is no
# larger than the budget anyway.
text=$(printf '%s' "$payload" | BUDGET="$budget" python3 -c '
import json, os, sys
result = json.load(sys.stdin.buffer)["tool_response"]
if isinstance(result, dict):
    result = result["content"]
if isinstance(result, list):
    if not all(part.get("type") == "text" for part in result):
        sys.exit(1)
    result = "\n".join(part["text"] for part in result)
if not isinstance(result, str) or "\0" in result or len(result) <= int(os.environ["BUDGET"]):
    sys.exit(1)
sys.stdout.buffer.write(result.encode())
' 2>/dev/null) || exit 0

# shellcheck disable=SC2086 # the limit is two words, or none
compiled=$(printf '%s' "$text" | $limit veles-memory compile-stdin --budget "$budget" 2>/dev/null) || exit 0

bytes=$(printf '%s' "$text" | wc -c)
printf '%s' "$compiled" | BYTES="$bytes" python3 -c '
import json, os, sys
compiled = json.load(sys.stdin.buffer)
content = compiled["content"]
if compiled["risk"] not in ("low", "medium") or not content.strip():
    sys.exit(1)
if len(content.encode()) >= int(os.environ["BYTES"]):
    sys.exit(1)
note = "[shortened by veles-memory; call the tool again for what is missing]\n"
output = {"hookEventName": "PostToolUse", "updatedMCPToolOutput": note + content}
print(json.dumps({"hookSpecificOutput": output}))
' 2>/dev/null
exit 0
