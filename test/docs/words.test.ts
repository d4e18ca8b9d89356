/**
 * How the pages are written: short lines, a short README, and no metaphors beyond tombstone and graveyard.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: ROOT }).filter(
  (it) => it !== 'CHANGELOG.md',
);
const MAX_COLUMNS = 120;
const MAX_README_LINES = 150;
const METAPHORS =
  /\b(?:carv\w*|plots?|bury|buries|buried|mourn\w*|testif\w*|testimon\w*|witness\w*|undead|haunt\w*|unborn|remnants?|strangers?)\b/gi;

describe('the pages', () => {
  it('have lines of at most 120 columns, but for tables and code', () => {
    assert.deepEqual(
      PAGES.flatMap((page) => longLines(textOf(page)).map((line) => `${page}: ${line}`)),
      [],
    );
    assert.deepEqual(longLines(`${'a '.repeat(61)}\n| ${'a '.repeat(61)}|\n\`\`\`\n${'a '.repeat(61)}\n\`\`\`\n`), [
      'a '.repeat(61),
    ]);
  });

  it('begin with a README of at most 150 lines of at most 120 columns', () => {
    const lines = textOf('README.md').trimEnd().split('\n');
    assert.ok(lines.length <= MAX_README_LINES, `${lines.length} lines`);
    assert.deepEqual(
      lines.filter((line) => line.length > MAX_COLUMNS),
      [],
    );
  });

  it('use no metaphor but tombstone and graveyard', () => {
    assert.deepEqual(
      PAGES.flatMap((page) => metaphorsOf(textOf(page)).map((word) => `${page}: ${word}`)),
      [],
    );
    assert.deepEqual(metaphorsOf('It carves a tombstone. `cannot carve`\n```log\ncarved\n```\n'), ['carves']);
  });

  it('call the image of sexton by one name', () => {
    const files = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.{md,yaml,json}', 'examples/**/Dockerfile'], {
      cwd: ROOT,
    });
    const names = files.flatMap((file) => imagesOf(textOf(file)));
    assert.deepEqual([...new Set(names)], ['example.com/sexton:1']);
    assert.deepEqual(imagesOf('FROM registry.local/sexton:2, sexton:1'), ['registry.local/sexton:2', 'sexton:1']);
  });
});

function imagesOf(text: string): string[] {
  return text.match(/(?<![\w./-])(?:[\w.-]+\/)*sexton:[\w.]+/g) ?? [];
}

function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

function longLines(text: string): string[] {
  const prose = text.replace(/^ *```.*?^ *```$/gms, '').split('\n');
  return prose.filter((line) => line.length > MAX_COLUMNS && !/^(?:\||#| {4}\S)/.test(line));
}

/** What the program prints is quoted as it is. */
function metaphorsOf(text: string): string[] {
  const prose = text.replace(/^ *```.*?^ *```$/gms, '').replace(/`[^`\n]*`/g, '');
  return prose.match(METAPHORS) ?? [];
}
