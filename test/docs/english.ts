/**
 * The patterns of plain English (CONTRIBUTING.md): what a pattern can hold of comments, test titles and pages.
 *
 * `node test/docs/english.ts [PATH..]` prints the findings; `--pending` writes the list of files that still have some.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT } from '../helpers/paths.ts';
import { PAGES, PLAIN_PAGES, proseOf } from './pages.ts';

const MAX_WORDS = 25;
const MAX_TITLE = 90;
const PENDING = join(ROOT, 'test/docs/english.pending');
const FIRST_WORDS = /^(?:Of|Who|Whose|Nobody|So many|As of)\b/i;
const RETIRED =
  /\b(?:vigils?|tellers?|last words?|covered ends?|entrust\w*|business|(?:a|an|the|its|this|each|every|no|one) (?:rises?|judges?|wish(?:es)?|prompts?|made))\b/gi;

const QUOTED = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`;
const TEMPLATE = '`(?:[^`\\\\$]|\\\\[^]|\\$(?!\\{)|\\$\\{(?:[^{}`]|`[^`]*`|\\{[^{}]*\\})*\\})*`';
const REGEXP = String.raw`(?<=(?:^|[=(,:;!&|?{}[>]|return)\s*)/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/`;
const TOKEN = new RegExp(String.raw`//[^\n]*(?:\n\s*//[^\n]*)*|/\*[^]*?\*/|${QUOTED}|${TEMPLATE}|${REGEXP}`, 'gm');

/** Every file that the rules hold for. docs/rules.md is made from the sources. */
export function heldFiles(): string[] {
  const sources = globSync(['src/**/*.{ts,c,h}', 'test/**/*.{ts,mjs,c,h}'], { cwd: ROOT });
  return [...sources, ...PAGES.filter((page) => page !== 'docs/rules.md'), 'CHANGELOG.md'].sort();
}

/** Files whose findings are not mended yet. A line is a folder and the files in it. */
export function pendingFiles(): string[] {
  const lines = readFileSync(PENDING, 'utf8').split('\n').filter(Boolean);
  return lines.flatMap((line) => line.split(' ').flatMap((name, at, [folder = '']) => (at ? join(folder, name) : [])));
}

export function findingsIn(path: string, text = readFileSync(join(ROOT, path), 'utf8')): string[] {
  if (path.endsWith('.md')) return pageFindings(text, PLAIN_PAGES.includes(path));
  const titles = path.startsWith('test/') && path.endsWith('.ts') ? titlesOf(text) : [];
  return [...commentsOf(text).flatMap((it) => findings(it, true)), ...titles.flatMap(titleFindings)];
}

/** What begins with a small letter is no sentence: a cell of a table, say. */
function pageFindings(text: string, isPlain: boolean): string[] {
  const found = proseOf(text).flatMap((paragraph) => findings(paragraph, isPlain));
  return found.filter((finding) => !/^begins with [a-z]/.test(finding));
}

function titleFindings(title: string): string[] {
  const found = findings(title.replace(/^(?:[A-Z]\d+[,:]? )+/, ''), false);
  return title.length > MAX_TITLE ? [...found, `${title.length} characters: ${title}`] : found;
}

function findings(paragraph: string, isLengthHeld: boolean): string[] {
  const retired = paragraph.replace(/`[^`]*`/g, '').match(RETIRED) ?? [];
  const sentences = paragraph.split(/(?<=[.!?][)"'*_]*)\s+(?=[("'*_]*(?:[A-Z`\d[]|sexton))/);
  return [
    ...retired.map((noun) => `retired noun "${noun}": ${paragraph.slice(0, 80)}`),
    ...sentences.flatMap((sentence) => sentenceFindings(sentence, isLengthHeld)),
  ];
}

function sentenceFindings(sentence: string, isLengthHeld: boolean): string[] {
  const plain = sentence.replace(/`[^`]*`/g, 'X').replace(/\]\([^)]*\)/g, ']');
  const words = plain.split(/\s+/).filter((word) => /\w/.test(word)).length;
  const [first] = FIRST_WORDS.exec(plain.replace(/^\W+/, '')) ?? [];
  return [
    ...(first === undefined ? [] : [`begins with ${first}: ${sentence}`]),
    ...(isLengthHeld && words > MAX_WORDS ? [`${words} words: ${sentence}`] : []),
  ];
}

/** The paragraphs of all comments. An indented line, or an item of a list, is a paragraph of its own. */
export function commentsOf(source: string): string[] {
  const comments = [...source.matchAll(TOKEN)].map(([token]) => token).filter((token) => /^\/[/*]/.test(token));
  return comments.flatMap((comment) =>
    comment
      .replace(/^\/\*+|\*\/$/g, '')
      .replace(/^[ \t]*(?:\/\/|\*(?= |$))[ \t]?/gm, '')
      .split(/\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d+\.) |[ \t]{2,}\S)/)
      .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
      .filter((paragraph) => /\w/.test(paragraph) && !/^(?:biome-ignore|@ts-|!)/.test(paragraph)),
  );
}

/** First arguments of the functions that register tests, with an x for what a template fills in. */
export function titlesOf(source: string): string[] {
  const names = ['it', 'test', 'describe', ...registrarsOf(source), ...sharedRegistrars().filter(isImportedBy(source))];
  const call = new RegExp(String.raw`(?<![\w.'\`])(?:${names.join('|')})(?:\.\w+)?\(\s*(${QUOTED}|${TEMPLATE})`, 'g');
  return [...source.matchAll(call)].map(([, title = '']) => title.slice(1, -1).replace(/\$\{[^}]*\}/g, 'x'));
}

const isImportedBy = (source: string) => (name: string) =>
  new RegExp(String.raw`^import \{[^}]*\b${name}\b`, 'm').test(source);

/** Functions of the test helpers that pass their first parameter on as a title. */
function sharedRegistrars(): string[] {
  shared ??= globSync('test/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    return registrarsOf(source).filter((name) => source.includes(`export function ${name}(`));
  });
  return shared;
}
let shared: string[] | undefined;

function registrarsOf(source: string): string[] {
  const declared = source.matchAll(/^( *)(?:export )?function (\w+)\(\s*\w*[tT]itle: string[^]*?^\1\}/gm);
  return [...declared].filter(([body]) => /\b[tT]itle\b[^]*\b[tT]itle\b/.test(body)).map(([, , name = '']) => name);
}

function main(words: readonly string[]): void {
  const held = heldFiles().filter((file) => !words[0] || words[0] === '--pending' || words.some((it) => file.startsWith(it)));
  const found = held.map((file) => [file, findingsIn(file)] as const).filter(([, its]) => its.length > 0);
  if (words[0] !== '--pending') return found.forEach(([file, its]) => its.forEach((it) => console.log(`${file}: ${it}`)));
  const byFolder = Map.groupBy(found.map(([file]) => file), (file) => dirname(file));
  const lines = [...byFolder].map(([folder, files]) => [folder, ...files.map((file) => basename(file))].join(' '));
  writeFileSync(PENDING, `${lines.sort().join('\n')}\n`);
}

if (import.meta.main) main(process.argv.slice(2));
