/** The examples to choose from: those of the repository, and a few more. */
import explanation from "../../examples/explanation.rubric.yaml";
import legacy from "../../examples/legacy.yaml";
import summary from "../../examples/summary.rubric.yaml";
import supportBot from "../../examples/support-bot.yaml";
import agentv from "../examples/agentv.yaml";
import draft from "../examples/draft.rubric.yaml";
import holistic from "../examples/holistic.rubric.yaml";
import overlap from "../examples/overlap.rubric.yaml";
import promptfoo from "../examples/promptfooconfig.yaml";

/** The file names to choose from: the name says how rubric-lint reads the text. */
export const NAMES = [
  "suite.yaml",
  "check.rubric.yaml",
  "suite.json",
  "check.rubric.json",
  "suite.jsonl",
  "promptfooconfig.yaml",
] as const;

export interface Example {
  readonly title: string;
  readonly name: (typeof NAMES)[number];
  readonly text: string;
  /** What a judge may return for it. */
  readonly output: string;
}

function judged(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

export const EXAMPLES: readonly [Example, ...Example[]] = [
  {
    title: "A first draft",
    name: "check.rubric.yaml",
    text: draft,
    output: judged({
      checks: [
        { id: "accuracy", reasoning: "Names the right period and not the day on which it ends.", score: 6 },
        { id: "tone", reasoning: "Apologises in the first sentence.", score: 9 },
      ],
      overall_reasoning: "Right, but the customer has to ask again.",
    }),
  },
  { title: "Overlapping bands", name: "check.rubric.yaml", text: overlap, output: "" },
  { title: "Test suite", name: "suite.yaml", text: supportBot, output: "" },
  {
    title: "Score ranges",
    name: "check.rubric.yaml",
    text: summary,
    output: judged({
      checks: [
        { id: "accuracy", reasoning: "It gives 1899 as the year; the article says 1889.", score: 5 },
        { id: "length", reasoning: "It has 26 words.", score: 10 },
      ],
      overall_reasoning: "Right in its main points, with a wrong year.",
    }),
  },
  {
    title: "Levels",
    name: "check.rubric.yaml",
    text: explanation,
    output: judged({
      checks: [{ id: "quality", reasoning: "Accurate, with a small omission.", level: 4 }],
      overall_reasoning: "Clear.",
    }),
  },
  {
    title: "One score for all (holistic)",
    name: "check.rubric.yaml",
    text: holistic,
    output: judged({ reasoning: "One step of the setup is missing.", score: 7 }),
  },
  { title: "First version of the format", name: "suite.yaml", text: legacy, output: "" },
  { title: "AgentV 5", name: "suite.yaml", text: agentv, output: "" },
  { title: "promptfoo", name: "promptfooconfig.yaml", text: promptfoo, output: "" },
];
