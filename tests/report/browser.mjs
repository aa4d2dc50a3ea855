// Opens pages in Chromium by its debugging protocol, and does what steps say.
// usage: node browser.mjs CHROMIUM PROFILE < steps.json > results.json
// Steps: {"open": url}, {"run": javascript}, {"wait": javascript}, {"size": [width, height]}, {"dark": bool}, {"print": file},
// {"picture": file, "full": bool}, {"script": bool}, {"press": [key, ...]}, {"downloads": folder}
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const [chromium, profile] = process.argv.slice(2);
const steps = JSON.parse(await text(process.stdin));
const flags = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0",
];
const browser = spawn(chromium, [...flags, `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
process.on("exit", () => browser.kill("SIGKILL"));
const address = await new Promise((resolve, reject) => {
  let told = "";
  browser.stderr.on("data", (data) => {
    const found = (told += data).match(/listening on (ws:\S+)/);
    if (found) resolve(found[1]);
  });
  browser.on("exit", () => reject(new Error(told)));
});
const socket = new WebSocket(address);
await new Promise((resolve) => (socket.onopen = resolve));
const waiting = new Map();
const requested = [], complaints = [];
socket.onmessage = ({ data }) => {
  const { id, result, error, method, params } = JSON.parse(data);
  if (id) waiting.get(id)[error ? "reject" : "resolve"](error ? new Error(error.message) : result);
  if (method === "Network.requestWillBeSent") requested.push(params.request.url);
  if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === "Page.javascriptDialogOpening") call("Page.handleJavaScriptDialog", { accept: true });
  if (method === "Log.entryAdded") complaints.push(params.entry.text);
};
let number = 0, session;
const call = (method, params = {}) =>
  new Promise((resolve, reject) => {
    waiting.set((number += 1), { resolve, reject });
    socket.send(JSON.stringify({ id: number, method, params, ...(session && { sessionId: session }) }));
  });
const { targetInfos } = await call("Target.getTargets");
session = (await call("Target.attachToTarget", { targetId: targetInfos.find((each) => each.type === "page").targetId, flatten: true })).sessionId;
for (const domain of ["Page", "Runtime", "Network", "Log"]) await call(`${domain}.enable`);

async function evaluate(expression) {
  const told = await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (told.exceptionDetails) throw new Error(told.exceptionDetails.exception?.description ?? told.exceptionDetails.text);
  return told.result.value;
}
async function waitFor(expression) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 10)))
    if (await evaluate(expression)) return;
  throw new Error(`never true: ${expression}`);
}

const results = [];
for (const step of steps) {
  if (step.size) {
    const [width, height] = step.size;
    await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }
  if ("dark" in step)
    await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: step.dark ? "dark" : "light" }] });
  if (step.downloads) await call("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: step.downloads });
  if ("script" in step) await call("Emulation.setScriptExecutionDisabled", { value: !step.script });
  if (step.open) {
    await call("Page.navigate", { url: "about:blank" });
    await call("Page.navigate", { url: step.open });
    await waitFor("document.readyState === 'complete' && location.href !== 'about:blank'");
  }
  if (step.wait) await waitFor(step.wait);
  for (const key of step.press ?? []) await call("Input.dispatchKeyEvent", { type: "keyDown", key, code: key }).then(() => call("Input.dispatchKeyEvent", { type: "keyUp", key, code: key }));
  if (step.run) results.push((await evaluate(step.run)) ?? null);
  if (step.picture) {
    const { data } = await call("Page.captureScreenshot", { format: "png", captureBeyondViewport: step.full ?? false });
    writeFileSync(step.picture, Buffer.from(data, "base64"));
  }
  if (step.print) writeFileSync(step.print, Buffer.from((await call("Page.printToPDF")).data, "base64"));
}
process.stdout.write(JSON.stringify({ results, requested, complaints }), () => process.exit()); // a pipe takes 64 KiB at once
