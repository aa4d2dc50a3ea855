/** Hands the schemas of this extension to Red Hat's YAML extension, which completes and explains the fields of YAML files. */
import * as vscode from "vscode";

const YAML_EXTENSION = "redhat.vscode-yaml";
const SCHEME = "rubric-lint";
const TOLD = "yamlExtensionRecommended";

/** What Red Hat's YAML extension exports. */
interface YamlApi {
  registerContributor(
    scheme: string,
    requestSchema: (document: string) => string | undefined,
    requestContent: (schema: string) => Promise<string>,
  ): boolean;
}

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

/** The schemas of the open documents with rubrics, as the server names them. */
export class Schemas {
  readonly #context: vscode.ExtensionContext;
  readonly #names = new Map<string, string>();
  #isOffered = false;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
  }

  /** Notes the file name of the schema that a document follows; recommends the YAML extension if it is not there. */
  note(document: vscode.Uri, name: string): void {
    this.#names.set(document.toString(), name);
    void this.offer();
    void this.#recommend();
  }

  /** Offers the schemas to the YAML extension, once it is there. */
  async offer(): Promise<void> {
    const extension = vscode.extensions.getExtension<YamlApi>(YAML_EXTENSION);
    if (!extension || this.#isOffered) {
      return;
    }
    this.#isOffered = true;
    const api = await extension.activate();
    api.registerContributor(
      SCHEME,
      (document) => {
        const name = this.#names.get(vscode.Uri.parse(document).toString());
        return name && `${SCHEME}://schemas/${name}`;
      },
      (schema) => this.#read(schema),
    );
  }

  /** Reads a schema from the folder of the extension. */
  async #read(schema: string): Promise<string> {
    const name = vscode.Uri.parse(schema).path;
    const file = vscode.Uri.joinPath(this.#context.extensionUri, "dist/schemas", name);
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  }

  /** Says once, to those who edit rubrics, what completes their fields. */
  async #recommend(): Promise<void> {
    const { globalState } = this.#context;
    const isUnwanted = vscode.workspace.getConfiguration("extensions").get<boolean>("ignoreRecommendations");
    if (vscode.extensions.getExtension(YAML_EXTENSION) || isUnwanted || globalState.get(TOLD)) {
      return;
    }
    await globalState.update(TOLD, true);
    const show = "Show Extension";
    const message = "Red Hat's YAML extension completes the fields of rubrics and suites, with the schemas of rubric-lint.";
    if ((await vscode.window.showInformationMessage(message, show, "Not Now")) === show) {
      await vscode.commands.executeCommand("extension.open", YAML_EXTENSION);
    }
  }
}
