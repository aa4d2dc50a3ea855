// The pictures of the playground in docs/images: `make playground`, then `npm run pictures`.
import { fileURLToPath } from "node:url";
import { launch, linted, open, serve } from "../test/page.mjs";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const [server, browser] = await Promise.all([serve(), launch()]);
for (const [name, colorScheme] of [["playground", "light"], ["playground-dark", "dark"]]) {
  const page = await open(await browser.newContext({ viewport: { width: 1120, height: 640 }, colorScheme }), server.url);
  await page.selectOption("#example", "Overlapping bands");
  await linted(page, 2);
  await page.click("#findings .fix summary >> nth=0");
  await page.waitForSelector("#findings .diff");
  await page.screenshot({ path: `${FOLDER}${name}.png` });
}
await browser.close();
server.close();
