/**
 * No link of a page leads nowhere: each names a file that is there, and a heading that it has.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

test('every link between the pages leads to a file that is there, and to one of its headings', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'src/**/*.md'], { cwd: ROOT });
  assert.ok(pages.includes('docs/security.md'));
  const dead = pages.flatMap((page) => linksOf(page).filter((target) => !leadsSomewhere(page, target)));
  assert.deepEqual(dead, []);
});

test('the index of the pages names every page', () => {
  const listed = linksOf('docs/README.md').map((target) => join('docs', target));
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => page !== 'docs/README.md');
  assert.deepEqual(listed.filter((page) => page.startsWith('docs/')).toSorted(), pages.toSorted());
});

test('a link to a file or a heading that is not there is seen', () => {
  assert.ok(leadsSomewhere('docs/security.md', 'install.md#the-same-bytes'));
  assert.ok(!leadsSomewhere('docs/security.md', 'install.md#other-bytes'));
  assert.ok(!leadsSomewhere('docs/security.md', 'instal.md'));
});

function linksOf(page: string): string[] {
  const targets = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, target = '']) => target,
  );
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file) || relative(ROOT, file).startsWith('..')) return false;
  if (anchor === undefined) return true;
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => anchorOf(text));
  return headings.includes(anchor);
}

/** As the usual viewers of Markdown make them. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-');
}
