const vscode = require("vscode");

const changed = new vscode.EventEmitter();
let selected = "";

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("stand-in.select", (path) => {
      selected = path;
      changed.fire({ path });
    }),
  );
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path: selected }),
      resolveEnvironment: async ({ path }) => (path ? { executable: { uri: vscode.Uri.file(path) } } : undefined),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
