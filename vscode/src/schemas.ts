/** Whether someone else checks YAML files by the schemas that this extension brings. */
import * as vscode from "vscode";

const YAML_EXTENSION = "redhat.vscode-yaml";

/** Whether Red Hat's YAML extension is there and told to validate. */
export function schemasAreChecked(): boolean {
  return (
    vscode.extensions.getExtension(YAML_EXTENSION) !== undefined &&
    vscode.workspace.getConfiguration("yaml").get("validate", true)
  );
}

/** Calls back when that may have changed. */
export function onSchemasMayBeChecked(changed: () => void): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.extensions.onDidChange(changed),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("yaml.validate")) {
        changed();
      }
    }),
  );
}
