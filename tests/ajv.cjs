// Reads {schemas: {name: schema}, documents: [{schema, data}]} and writes {broken: {name: why}, refusals: [path or null]}.
const { createRequire } = require("node:module");
const Ajv = createRequire(`${process.argv[2]}/`)("ajv");

const { schemas, documents } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
// As strict as the checks of SchemaStore, which knows the first two keywords; the others an entry there has to name.
const ajv = new Ajv({ strict: true });
for (const keyword of ["defaultSnippets", "markdownDescription", "doNotSuggest", "errorMessage", "patternErrorMessage"]) {
  ajv.addKeyword(keyword);
}
const broken = {};
const validators = {};
for (const [name, schema] of Object.entries(schemas)) {
  try {
    validators[name] = ajv.compile(schema);
  } catch (error) {
    broken[name] = error.message;
  }
}
const refusals = documents.map(({ schema, data }) =>
  schema in validators && !validators[schema](data) ? validators[schema].errors[0] : null,
);
process.stdout.write(JSON.stringify({ broken, refusals }));
