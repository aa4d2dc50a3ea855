/** What rubric-lint answers for the first example, computed when the page was built. */
declare const FIRST_ANSWER: import("./messages").Linted;

declare module "*.yaml" {
  const text: string;
  export default text;
}
