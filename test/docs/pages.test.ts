/** What holds for all pages, and that the ids of test titles are those of test/CASES.md. */
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../helpers/paths.ts';
import { PAGES, textOf, withoutBlocks } from './pages.ts';

const MAX_COLUMNS = 120;
const MAX_README_LINES = 150;

const WORKFLOW = '.github/workflows/release.yml';
const OURS = `https://github.com/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3`;
/** cosign searches for the expression in the signer's identity, so one without anchors takes any signature. */
const OTHERS = [
  `https://github.com/mallory/sexton/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/acme/other/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/.github/workflows/test.yml@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/${WORKFLOW}@refs/heads/main`,
  `https://github.com/acme/sexton/${WORKFLOW}@refs/heads/x@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/.github/workflows/release-yml@refs/tags/v1.2.3`,
  `https://githubxcom/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/mallory/x/https://github.com/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3\nmallory`,
];

describe('the pages', () => {
  it('the pages link only to files that are there, and to headings that these have', () => {
    const dead = PAGES.flatMap((page) => linksOf(page).filter((target) => !leadsSomewhere(page, target)));
    assert.deepEqual(dead, []);
    assert.ok(leadsSomewhere('docs/security.md', 'install.md#the-same-bytes'));
    assert.ok(!leadsSomewhere('docs/security.md', 'install.md#other-bytes'));
    assert.ok(!leadsSomewhere('docs/security.md', 'instal.md'));
  });

  it('the index names all pages', () => {
    const listed = linksOf('docs/README.md').map((target) => join('docs', target));
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    assert.deepEqual(listed.filter((page) => page.startsWith('docs/')).toSorted(), pages.toSorted());
  });

  it('the pages have lines of at most 120 columns, but for tables and code', () => {
    const pages = PAGES.filter((page) => page !== 'CHANGELOG.md' && page !== 'src/init/protocol.md');
    assert.deepEqual(
      pages.flatMap((page) => longLines(textOf(page)).map((line) => `${page}: ${line}`)),
      [],
    );
    const long = 'a '.repeat(61);
    assert.deepEqual(longLines(`${long}\n| ${long}|\n\`\`\`\n${long}\n\`\`\`\n`), [long]);
    assert.ok(textOf('README.md').trimEnd().split('\n').length <= MAX_README_LINES);
  });

  it('the pages call the image of sexton by one name', () => {
    const examples = globSync('examples/**/{*.yaml,*.json,Dockerfile}', { cwd: ROOT });
    const names = [...PAGES, ...examples].flatMap((file) => imagesOf(textOf(file)));
    assert.deepEqual([...new Set(names)], ['example.com/sexton:1']);
    assert.deepEqual(imagesOf('FROM registry.local/sexton:2, sexton:1'), ['registry.local/sexton:2', 'sexton:1']);
  });
});

it('test/CASES.md lists the case ids that test titles cite, and no others', () => {
  const listed = [...textOf('test/CASES.md').matchAll(/^\| ([A-Z]\d+) \| \S/gm)].map(([, id = '']) => id);
  const cited = globSync('test/**/*.ts', { cwd: ROOT }).flatMap((file) => idsOf(textOf(file)));
  assert.deepEqual(listed.sort(), [...new Set(cited)].sort());
  const titles = `it('N18 K13 a', f); it(\`\${id} A6 b\`, f); it('A5, K03 c', f); it('C1: d', f); it('V8 e', f);`;
  assert.deepEqual(idsOf(titles), ['N18', 'K13', 'A6', 'A5', 'K03', 'C1']);
});

for (const page of ['docs/security.md', 'docs/npm.md'])
  it(`B2 the signature check of ${page} takes releases of the named owner only`, () => {
    const [, pattern = ''] = /--certificate-identity-regexp '([^']+)'/.exec(textOf(page)) ?? [];
    assert.match(pattern, /OWNER/);
    const expression = new RegExp(pattern.replace('OWNER', 'acme'));
    assert.ok(expression.test(OURS), pattern);
    assert.ok(!OTHERS.some((identity) => expression.test(identity)), pattern);
  });

function linksOf(page: string): string[] {
  const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, file)) || relative(ROOT, join(ROOT, file)).startsWith('..')) return false;
  if (anchor === undefined) return true;
  return [...textOf(file).matchAll(/^#+ (.*)$/gm)].some(([, text = '']) => anchorOf(text) === anchor);
}

/** As the usual viewers of Markdown make them. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-');
}

function longLines(text: string): string[] {
  const prose = withoutBlocks(text).split('\n');
  return prose.filter((line) => line.length > MAX_COLUMNS && !/^(?:\||#| {4}\S)/.test(line));
}

function imagesOf(text: string): string[] {
  return text.match(/(?<![\w./-])(?:[\w.-]+\/)*sexton:[\w.]+/g) ?? [];
}

/** The ids at the beginning of a title; before them may stand what a template fills in. */
function idsOf(source: string): string[] {
  const ids = /['"`](?:\$\{\w+\} )?((?:[ABCDEFJKLNPR]\d{1,2}[,:]? )+)/g;
  return [...source.matchAll(ids)].flatMap(([, found = '']) => found.match(/[A-Z]\d+/g) ?? []);
}
