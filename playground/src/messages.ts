/** What the page and its worker say to each other, and what the answers of python/bridge.py hold. */

export interface Position {
  readonly line: number;
  readonly column: number;
  /** In code points, as all positions of rubric-lint. */
  readonly offset: number;
}

export interface Place {
  readonly message: string;
  readonly start: Position;
  readonly end: Position;
}

export interface Finding extends Place {
  readonly rule: string;
  readonly severity: string;
  readonly related: readonly Place[];
  readonly fix: Fix | null;
  /** The fixes of which only an author can pick one. */
  readonly choices?: readonly (Fix & { readonly name: string })[];
}

export interface Fix {
  readonly title: string;
  readonly safe: boolean;
}

export interface Unread {
  readonly reason: string;
  readonly line: number;
  readonly column: number;
}

/** The JSON report of `rubric-lint` for one file. */
export interface Report {
  readonly findings: readonly Finding[];
  readonly unread?: readonly Unread[];
}

export interface Linted {
  readonly report: Report;
  readonly summary: string;
  /** Of a text without rubrics: the rubric file that `rubric-lint import` makes of its words; empty if it finds none. */
  readonly imported: string | null;
}

/** What `rubric-lint show` says of a file. */
export interface Shown {
  readonly reason: string | null;
  readonly rubrics: readonly ShownRubric[];
  readonly unscorable: readonly string[];
  readonly unread: readonly Unread[];
}

export interface ShownRubric {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly format: string;
  readonly shape: string | null;
  readonly task: string | null;
  readonly thresholds: { readonly pass: number; readonly borderline: number };
  readonly criteria: readonly ShownCriterion[];
  readonly examples: readonly ShownExample[];
}

export interface ShownCriterion {
  readonly id: string;
  readonly line: number;
  readonly column: number;
  readonly weight: number | null;
  readonly percent: number | null;
  readonly gate: number | null;
  readonly outcome: string | null;
  readonly bands: readonly { readonly scores: readonly [number, number] | null; readonly outcome: string | null }[];
  readonly levels: readonly { readonly level: number | null; readonly name: string | null; readonly outcome: string | null }[];
}

export interface ShownExample {
  readonly title: string;
  readonly output: unknown;
  readonly score: number;
  readonly verdict: string;
}

export interface Fixed {
  /** The new text, or null where nothing was fixed. */
  readonly text: string | null;
  readonly diff: string;
  readonly troubles: readonly string[];
}

export interface CriterionResult {
  readonly id: string;
  readonly raw: boolean | number;
  readonly score: number;
  readonly weight: number;
  readonly gate: number | null;
  readonly gate_met: boolean;
  readonly outcome: string | null;
}

export interface ScoreResult {
  readonly score: number;
  readonly verdict: string;
  readonly shape: string;
  readonly criteria: readonly CriterionResult[];
}

export interface Scored {
  readonly rubrics: readonly string[];
  readonly rubric: string | null;
  readonly result: ScoreResult | null;
  readonly faults: readonly string[];
}

export interface File {
  readonly name: string;
  readonly text: string;
}

/** Each kind of request, with its answer. */
export interface Requests {
  lint: { readonly request: File; readonly answer: Linted };
  show: { readonly request: File; readonly answer: Shown };
  "fix-one": { readonly request: File & { readonly finding: number; readonly choice: string }; readonly answer: Fixed };
  "fix-all": { readonly request: File; readonly answer: Fixed };
  score: {
    readonly request: File & { readonly output: string; readonly rubric: string | null };
    readonly answer: Scored;
  };
}

export type Kind = keyof Requests;

/** What the worker sends: that it is ready, that it cannot start, or what became of a request. */
export type FromWorker =
  | { readonly kind: "ready"; readonly version: string }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "answer"; readonly answer: string }
  | { readonly kind: "error"; readonly reason: string };
