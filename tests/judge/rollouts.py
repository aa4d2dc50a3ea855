"""Runs rollouts of verifiers whose model is a server on loopback; prints what each trace has, as JSON.

Runs in the environment of `make agreement`, with rubric_lint on the path, where `explain.py` of the guide is. The
arguments are the address of the server, and prompts.
"""

import asyncio
import json
import sys
from pathlib import Path

import httpx
import verifiers.v1 as vf

sys.path.insert(0, str(Path.cwd()))
from explain import ExplainData, ExplainTask  # of the guide

__all__ = ["Talk"]  # verifiers finds the harness by it


class Talk(vf.Harness[vf.HarnessConfig]):
    """The smallest harness: one request, made from this process."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime):
        pass

    async def launch(self, ctx, _trace, _runtime, endpoint, secret, _mcp_urls, data):
        _, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": "Explain."}, {"role": "user", "content": prompt}]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, trust_env=False) as client:
            body = {"model": ctx.model, "messages": messages}
            response = await client.post(f"{endpoint}/chat/completions", json=body)
        response.raise_for_status()
        return vf.ProgramResult(0, "", "")


class PoliteTask(ExplainTask):
    @vf.reward
    async def polite(self) -> float:
        return 0.5


async def roll_out(server, prompts):
    config = vf.AgentConfig(
        model="policy",
        client=vf.EvalClientConfig(base_url=server, api_key_var="NO_KEY"),
        harness={"id": "rollouts"},
        runtime={"type": "subprocess"},
    )
    async with vf.Agent(config) as agent:
        tasks = [PoliteTask(ExplainData(idx=place, prompt=item, answer="So.")) for place, item in enumerate(prompts)]
        return [await agent.run(task) for task in tasks]


def main():
    server, *prompts = sys.argv[1:]
    for trace in asyncio.run(roll_out(server, prompts)):
        said = trace.model_dump(mode="json")
        rewards = {name: item and item["score"] for name, item in said["rewards"].items()}
        result = said["info"].get("rubric_lint", {}).get("quality")
        print(json.dumps({  # noqa: T201
            "reply": trace.last_reply,
            "ok": trace.ok,
            "rewards": rewards,
            "reward": trace.reward,
            "metrics": said["metrics"],
            "result": result and [result[name] for name in ("score", "verdict", "reward", "dropped")],
            "errors": [item.message for item in trace.errors],
        }))  # fmt: skip


if __name__ == "__main__":
    main()
