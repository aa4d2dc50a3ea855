// Reads {schemas: {name: schema}, documents: [{schema, data}]} and writes {broken: {name: why}, refusals: [path or null]}.
const { createRequire } = require("node:module");
const Ajv = createRequire(`${process.argv[2]}/`)("ajv");

const { schemas, documents } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
// A rubric and a list of bands may each be written in two forms; that is a union of types and is meant.
const ajv = new Ajv({ strict: true, allowUnionTypes: true });
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
