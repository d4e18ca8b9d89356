/** A person on call searches for the line that stands in the log, so the page shows lines that sexton prints. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';
import { textOf } from './pages.ts';

const PAGE = textOf('docs/troubleshooting.md');
/** A template with fewer letters fits nearly any line. */
const FEWEST_LETTERS = 5;
/** A fence and its language. Markdown does not show what else stands on that line. */
const FENCE = /^ *```\w*$/;
const DETAILS = / (reason|signal|exitCode|phase|detail)=.*$/;

const templates = globSync('src/**/*.{ts,c}', { cwd: ROOT }).map(textOf).flatMap(templatesOf);

test('every line of the log on the page is one that the program prints', () => {
  const lines = shownLines();
  assert.ok(lines.length >= 20, `${lines.length} lines were found`);
  const unknown = lines.filter((line) => !templates.some((template) => template.test(line)));
  assert.deepEqual(unknown, []);
});

test('a line that the program does not print is seen', () => {
  for (const line of ['the mains are finished', 'no main named work was seen; check --mains'])
    assert.ok(!templates.some((template) => template.test(line)), line);
});

test('a fence on the page stands on a line of its own', () => {
  const wrong = PAGE.split('\n').filter((line) => line.includes('```') && !FENCE.test(line));
  assert.deepEqual(wrong, []);
  assert.doesNotMatch('```log the mains have finished', FENCE);
  assert.doesNotMatch('the mains have finished ```', FENCE);
});

function shownLines(): string[] {
  const blocks = [...PAGE.matchAll(/^ *```log\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.split('\n').map((line) => line.trim())).filter((line) => line !== '');
  return lines.map((line) => line.replace(/^(info|warn|error) +\S+: /, '').replace(DETAILS, ''));
}

/** Every text of the source, as a pattern with gaps for values. The text behind `cannot` may consist of two of them. */
function templatesOf(source: string): RegExp[] {
  // In C the parts of a line are arguments, one after the other.
  const joined = source.replace(/", [a-z>.[\]0-9_-]+, "/g, '$${}').replaceAll('\\n"', '"');
  const texts = [...joined.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g)];
  return texts
    .map(([, a, b, c]) => (a ?? b ?? c ?? '').split(/\$\{(?:[^{}]|\{[^}]*\})*\}/))
    .filter((parts) => parts.length === 1 || parts.join('').replace(/[^a-z]/gi, '').length >= FEWEST_LETTERS)
    .filter((parts) => parts[0] !== 'cannot ')
    .map((parts) => new RegExp(`^(cannot )?${parts.map(quoted).join('.+')}(: .*)?$`));
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
