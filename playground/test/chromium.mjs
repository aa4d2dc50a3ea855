// @ts-check
// The browser of the tests, here and of the VS Code extension: nothing in it reaches the network by itself.
import { chromium } from "playwright-core";

export function launch() {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
