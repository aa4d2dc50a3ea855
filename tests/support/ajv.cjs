// Reads {schemas: {name: schema}, documents: [{schema, data}]} and writes {broken: {name: why}, refusals: [path or null]}.
const { createRequire } = require("node:module");
const Ajv = createRequire(`${process.argv[2]}/`)("ajv");

const { schemas, documents } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
// As strict as the checks of SchemaStore, which knows the first two keywords; the others an entry there has to name.
const KEYWORDS = ["defaultSnippets", "markdownDescription", "doNotSuggest", "errorMessage", "patternErrorMessage"];
const strict = new Ajv({ strict: true });
KEYWORDS.forEach((keyword) => strict.addKeyword(keyword));
// What nobody writes in an editor may be a union of types.
const lenient = new Ajv({ strict: true, allowUnionTypes: true });
const broken = {};
const validators = {};
for (const [name, schema] of Object.entries(schemas)) {
  try {
    validators[name] = (/^(rubric|suite)-/.test(name) ? strict : lenient).compile(schema);
  } catch (error) {
    broken[name] = error.message;
  }
}
const refusals = documents.map(({ schema, data }) =>
  schema in validators && !validators[schema](data) ? validators[schema].errors[0] : null,
);
process.stdout.write(JSON.stringify({ broken, refusals }));
