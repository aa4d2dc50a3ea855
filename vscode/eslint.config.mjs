import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly" } },
  },
  {
    files: ["test/**/*.js"],
    languageOptions: { globals: { exports: "writable", fetch: "readonly", require: "readonly", TextEncoder: "readonly" } },
  },
  {
    files: ["test/**/*.ts"],
    // node:test's describe and it return promises that nobody has to wait for.
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
);
