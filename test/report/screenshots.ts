/** `node test/report/screenshots.ts DIR`: pictures of the reports that the browser's tests measure. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nameOf, openBrowser, viewsOf } from './browser.ts';
import { DOCUMENTS } from './documents.ts';

const dir = process.argv[2];
if (dir === undefined) throw new Error('usage: node test/report/screenshots.ts DIR');
mkdirSync(dir, { recursive: true });
const browser = await openBrowser();
try {
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    const file = join(resolve(dir), name);
    writeFileSync(file, text);
    for (const view of viewsOf(name)) {
      const picture = `${file.replace('.', '-')}-${nameOf(view)}.png`;
      writeFileSync(picture, await browser.screenshot(file, view));
      process.stdout.write(`${picture}\n`);
    }
  }
} finally {
  await browser.close();
}
