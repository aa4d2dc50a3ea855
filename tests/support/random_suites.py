"""Random suites of AgentV 4 and older, in random layouts."""

import io
import json

from ruamel.yaml import YAML
from styles import Chances

BANDS = (
    {"0": "No", "5": "Half", "8": "All"},
    [{"score_range": [0, 4], "outcome": "No"}, {"score_range": [5, 10], "outcome": "Yes"}],
)
GATES = {"required": True, "required_min_score": 8, "min_score": 0.5}


class SuiteWriter(Chances):
    """Writes random suites."""

    def criteria(self, *, has_bands):
        return [self.criterion(number, has_bands=has_bands) for number in range(self.random.randint(1, 3))]

    def criterion(self, number, *, has_bands):
        if not has_bands and self.chance(0.3):
            return f"Names part {number} of it"
        name = self.one_of("outcome", "outcome", "expected_outcome", "description")
        fields = {"id": f"c{number}", name: f"Says part {number}" + self.one_of("", "", " {{ x }}", " ${{ NAME }}")}
        fields |= self.maybe(0.3, {"weight": self.one_of(1, 2, 0.5)})
        if has_bands:
            gate = self.one_of(*GATES)
            return fields | {"score_ranges": self.one_of(*BANDS)} | self.maybe(0.5, {gate: GATES[gate]})
        return fields | self.maybe(0.4, {"required": self.chance(0.5)})

    def assertion(self, depth=1):
        mappings = [item for item in self.criteria(has_bands=self.chance(0.3)) if isinstance(item, dict)]
        judge = {"rubrics": mappings} if mappings and self.chance(0.7) else {"prompt": "Judge {{ output }}"}
        members = [member for member in (self.assertion(0) for _ in range(3 * depth)) if isinstance(member, dict)]
        for number, member in enumerate(members):
            members[number] = {**member, "name": f"m{number}"}
            members[number].pop("weight", None)
        weights = self.maybe(0.5, {"weights": {"m0": 2}})
        found = self.one_of(
            {"type": self.one_of("contains", "starts_with"), "value": "x", **self.maybe(0.3, {"required": 0.7})},
            {"type": "rubrics", "criteria": self.criteria(has_bands=self.chance(0.3))},
            {"type": self.one_of("llm-grader", "rubric"), **judge, **self.maybe(0.2, {"target": "judge"})},
            {"type": self.one_of("code_judge", "code-grader"), self.one_of("script", "command"): ["python", "a.py"]},
            {"type": "composite", "aggregator": {"type": "weighted_average", **weights}, "assertions": members},
            {"type": "skill-trigger", "skill": "s", **self.maybe(0.5, {"should_trigger": self.chance(0.5)})},
            {"type": "tool-trajectory", "mode": "any_order", "minimums": {"search": 1}},
            {"type": "tool_trajectory", "mode": "in_order", "expected": [{"tool": "search"}, {"tool": "read"}]},
            {"type": "is_json"},
        )
        found = self.maybe(0.4, {"name": f"n{self.random.randint(0, 9)}"}) | found | self.maybe(0.3, {"weight": 2})
        return found if self.chance(0.8) else "Says more"

    def assertions(self):
        return [self.assertion() for _ in range(self.random.randint(1, 3))]

    def test(self, number):
        messages = [{"role": "system", "content": "S"}, {"role": "user", "content": self.one_of("a", "b\nc", 42)}]
        fields = {"id": f"t{number}", **self.maybe(0.5, {"criteria": f"Answers it {number}"})}
        fields |= self.one_of(
            {"input": "What?"}, {"input": "Ask {{ y }}"}, {"input": messages}, {"input_messages": messages}
        )
        name = self.one_of("expected_output", "expected_messages")
        fields |= self.maybe(0.4, {name: self.one_of("Yes", [{"role": "assistant", "content": "x"}], {"a": 1})})
        fields |= self.maybe(0.4, {"rubrics": self.criteria(has_bands=self.chance(0.3))})
        fields |= self.one_of(
            {},
            {self.one_of("assertions", "assert", "evaluators"): self.assertions()},
            {"execution": {self.one_of("evaluators", "assertions"): self.assertions()}},
            {"execution": {"evaluators": self.assertions(), "skip_defaults": True}},
        )
        fields |= self.maybe(0.2, {"vars": {"y": "z"}}) | self.maybe(0.1, {"metadata": {"a": "{{ b }}"}})
        return dict(self.random.sample([*fields.items()], len(fields)))

    def suite(self):
        run = (
            self.maybe(0.5, {"target": "default"})
            | self.maybe(0.3, {"workers": 2})
            | self.maybe(0.3, {"threshold": 0.9})
        )
        run |= self.maybe(0.2, {"trials": {"count": 2}})
        fields = self.maybe(0.3, {"name": "suite"}) | self.maybe(0.3, {"description": "About"})
        fields |= self.one_of({}, {"target": "default"}, {"execution": run} if run else {})
        fields |= self.maybe(0.1, {"input": "First"}) | self.maybe(0.1, {"experiment": "e"})
        fields[self.one_of("tests", "tests", "evalcases")] = [self.test(at) for at in range(self.random.randint(1, 3))]
        return fields | self.maybe(0.2, {"assertions": self.assertions()})

    def write(self):
        """The name and the text of a suite."""
        if self.chance(0.2):
            return "a.json", json.dumps(self.suite(), indent=self.one_of(None, 2))
        yaml, stream, offset = YAML(), io.StringIO(), self.one_of(0, 2)
        yaml.indent(mapping=2, sequence=2 + offset, offset=offset)
        yaml.dump(json.loads(json.dumps(self.suite())), stream)
        return "a.eval.yaml", stream.getvalue()


def name_suite(text):
    """The name of a file for the text of a suite, a template, or lines."""
    if text.startswith('{"id') and text.endswith("}\n"):
        return "a.eval.jsonl"
    if text.startswith('{"prompts'):
        return "a.json"
    return ".agentv/templates/a.yaml" if text[0] == "a" else "a.eval.yaml"
