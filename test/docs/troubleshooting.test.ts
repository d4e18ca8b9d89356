/**
 * A person on call searches for the line that stands in the log, so each line that the page shows is one that sexton
 * prints.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

const PAGE = readFileSync(join(ROOT, 'docs', 'troubleshooting.md'), 'utf8');
/** What is open and has fewer letters than these fits nearly any line. */
const FEWEST_LETTERS = 5;
const DETAILS = / (reason|signal|exitCode|phase|detail)=.*$/;

test('every line of the log on the page is one that the program prints', () => {
  const templates = sources().flatMap(templatesOf);
  const lines = shownLines();
  assert.ok(lines.length >= 20, `${lines.length} lines were found`);
  const unknown = lines.filter((line) => !templates.some((template) => template.test(line)));
  assert.deepEqual(unknown, []);
});

test('a line that the program does not print is seen', () => {
  const templates = sources().flatMap(templatesOf);
  for (const line of ['the mains are finished', 'no main named work was seen; check --mains'])
    assert.ok(!templates.some((template) => template.test(line)), line);
});

/** Messages without level, member and details. */
function shownLines(): string[] {
  const blocks = [...PAGE.matchAll(/^ *```log\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.split('\n').filter((line) => line.trim() !== ''));
  return lines.map((line) =>
    line
      .trim()
      .replace(/^(info|warn|error) +\S+: /, '')
      .replace(DETAILS, ''),
  );
}

function sources(): string[] {
  const files = globSync('src/**/*.{ts,c}', { cwd: ROOT });
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
}

/** Every text of the source, with what is filled in left open. What follows `cannot` may be made of two of them. */
function templatesOf(source: string): RegExp[] {
  // In C the parts of a line are arguments, one after the other.
  const joined = source.replace(/", [a-z>.[\]0-9_-]+, "/g, '$${}').replaceAll('\\n"', '"');
  const texts = [...joined.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g)];
  return texts
    .map(([, a, b, c]) => (a ?? b ?? c ?? '').split(/\$\{(?:[^{}]|\{[^}]*\})*\}/))
    .filter((parts) => parts.length === 1 || lettersOf(parts) >= FEWEST_LETTERS)
    .filter((parts) => parts[0] !== 'cannot ')
    .map((parts) => new RegExp(`^(cannot )?${parts.map(quoted).join('.+')}(: .*)?$`));
}

function lettersOf(parts: readonly string[]): number {
  return parts.join('').replace(/[^a-z]/gi, '').length;
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
