import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { type Browser, nameOf, openBrowser, viewsOf, withoutBrowser } from './browser.ts';
import { DOCUMENTS } from './documents.ts';

const IN_PAGE = readFileSync(join(import.meta.dirname, 'in-page.js'), 'utf8');

describe('a report in a browser', { skip: withoutBrowser }, () => {
  let browser: Browser | undefined;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  /** Returns all that is wrong with it, in words. */
  async function wrongWith(dir: string, name: string, text: string): Promise<readonly string[]> {
    const file = join(dir, name);
    writeFileSync(file, text);
    const found: string[] = [];
    for (const view of viewsOf(name)) {
      const wrong = await browser?.measure(file, view, IN_PAGE);
      assert.ok(Array.isArray(wrong));
      found.push(...wrong.map((what) => `${nameOf(view)}: ${what}`));
    }
    return found;
  }

  for (const [name, text] of Object.entries(DOCUMENTS))
    it(`${name} can be read whole in narrow and wide windows, light and dark, and on paper`, async () => {
      assert.deepEqual(await wrongWith(temporaryDirectory(), name, text), []);
    });

  it('a report is found at fault where texts overlap, are cut or are too pale', async () => {
    const page = `<!doctype html><meta name="viewport" content="width=device-width"><body style="background:#fff;margin:0">
      <p style="position:absolute;top:10px;left:10px">first</p><p style="position:absolute;top:14px;left:20px">second</p>
      <p style="position:absolute;top:90px;left:2000px">far</p><p style="position:absolute;top:150px;color:#ddd">pale</p>
      <svg style="position:absolute;top:200px" width="100" height="20"><rect width="20" height="20" fill="#000"/>
      <text class="in" x="10" y="15" fill="#fff">too long</text></svg>`;
    const wrong = (await wrongWith(temporaryDirectory(), 'wrong.html', page)).join('\n');
    for (const what of [/overlap: first.*second/, /cut: far/, /pale: pale/, /beyond its bar: too long/])
      assert.match(wrong, what);
  });
});
