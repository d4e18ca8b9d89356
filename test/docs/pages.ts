import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/paths.ts';

export const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'src/**/*.md'], { cwd: ROOT }).sort();

/** Pages whose sentences have at most 25 words. */
export const PLAIN_PAGES = [
  ...['CHANGELOG.md', 'docs/lifecycle.md'],
  ...['architecture', 'guarantees', 'scale', 'states'].map((name) => `docs/internals/${name}.md`),
];

export function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Without blocks of code, and without what a program writes. */
export function withoutBlocks(text: string): string {
  return text.replace(/^ *```.*?^ *```$/gms, '').replace(/^<!-- generated.*?^<!-- end of .*?-->$/gms, '');
}

/** Paragraphs, headings, items of lists and cells of tables. */
export function proseOf(text: string): string[] {
  const lines = withoutBlocks(text).replace(/^ {4}\S.*$/gm, '');
  return lines
    .split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) )|\n(?=\|)|\n(?=#)|(?<=^#.*)\n/m)
    .flatMap((paragraph) => (paragraph.startsWith('|') ? paragraph.split(/(?<!\\)\|/) : [paragraph]))
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => /\w/.test(paragraph));
}
