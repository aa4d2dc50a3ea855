/** The YAML language server in VS Code, with the schemas that extensions name in their manifests or hand over. */
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";

interface Contributor {
  readonly requestSchema: (document: string) => string | undefined;
  readonly requestContent: (schema: string) => Promise<string> | string;
}

interface Manifest {
  readonly contributes?: { readonly yamlValidation?: readonly { readonly fileMatch: readonly string[]; readonly url: string }[] };
}

/** Called by VS Code; returns what Red Hat's extension exports, as far as it is used. */
export async function activate(context: vscode.ExtensionContext): Promise<unknown> {
  const contributors = new Map<string, Contributor>();
  const settings = vscode.workspace.getConfiguration("stand-in");
  const module = settings.get("server", "");
  const server = { module, transport: TransportKind.ipc };
  const client = new LanguageClient("yaml", "YAML Support", server, { documentSelector: [{ language: "yaml" }] });
  context.subscriptions.push(client);
  client.onRequest("custom/schema/request", (document: string) =>
    [...contributors.values()].flatMap(({ requestSchema }) => requestSchema(document) ?? []),
  );
  client.onRequest("custom/schema/content", (schema: string) =>
    contributors.get(vscode.Uri.parse(schema).scheme)?.requestContent(schema) ?? "",
  );
  // There is no network: a file that names a schema by its address gets the one that is published there.
  client.onRequest("vscode/content", (address: string) =>
    readFile(path.join(settings.get("published", ""), path.posix.basename(address)), "utf8"),
  );
  await client.start();
  await client.sendNotification("json/schemaAssociations", [...vscode.extensions.all].flatMap(associations));
  await client.sendNotification("yaml/registerContentRequest", {});
  await client.sendNotification("yaml/registerCustomSchemaRequest", {});
  return {
    registerContributor: (
      scheme: string,
      requestSchema: Contributor["requestSchema"],
      requestContent: Contributor["requestContent"],
    ): boolean => {
      contributors.set(scheme, { requestSchema, requestContent });
      return true;
    },
  };
}

function associations(extension: vscode.Extension<unknown>): unknown[] {
  const { contributes } = extension.packageJSON as Manifest;
  return (contributes?.yamlValidation ?? []).map(({ fileMatch, url }) => ({
    fileMatch: fileMatch.map((pattern) => `/${pattern}`),
    uri: vscode.Uri.joinPath(extension.extensionUri, url).toString(),
  }));
}
