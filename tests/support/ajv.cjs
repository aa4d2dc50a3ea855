// Reads {schemas: {name: schema}, documents: [{schema, data}]} and writes
// {broken: {name: why}, refusals: [first error or null], errors: [[[place, keyword, property name or null], ...]]}.
const { createRequire } = require("node:module");
const Ajv = createRequire(`${process.argv[2]}/`)("ajv");

const { schemas, documents } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
// As the checks of SchemaStore are for a file that is not excepted from any, but without keywords of editors.
const plain = new Ajv({ strict: true, allErrors: true });
// With the keywords of editors: SchemaStore knows the first two; the others an entry there would have to name.
const KEYWORDS = ["defaultSnippets", "markdownDescription", "doNotSuggest", "errorMessage", "patternErrorMessage"];
const strict = new Ajv({ strict: true });
KEYWORDS.forEach((keyword) => strict.addKeyword(keyword));
// What nobody writes in an editor may be a union of types.
const lenient = new Ajv({ strict: true, allowUnionTypes: true });
const broken = {};
const validators = {};
for (const [name, schema] of Object.entries(schemas)) {
  try {
    const kind = /\.strict\./.test(name) ? plain : /^(rubric|suite)-/.test(name) ? strict : lenient;
    validators[name] = kind.compile(schema);
  } catch (error) {
    broken[name] = error.message;
  }
}
const found = documents.map(({ schema, data }) =>
  schema in validators && !validators[schema](data) ? validators[schema].errors : [],
);
const refusals = found.map((errors) => errors[0] ?? null);
const errors = found.map((each) => each.map((error) => [error.instancePath, error.keyword, error.propertyName ?? null]));
process.stdout.write(JSON.stringify({ broken, refusals, errors }));
