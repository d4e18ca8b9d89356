/** Patterns of plain English (CONTRIBUTING.md). `node test/docs/english.ts [PATH..]` prints the findings. */
import { globSync } from 'node:fs';
import { ROOT } from '../helpers/paths.ts';
import { PAGES, PLAIN_PAGES, proseOf, textOf } from './pages.ts';

const MAX_WORDS = 25;
const MAX_TITLE = 90;
const FIRST_WORDS = /^(?:Of|Who|Whose|Nobody|So many|As of)\b/i;
const RETIRED =
  /\b(?:vigils?|tellers?|last words?|covered ends?|entrust\w*|business|(?:a|an|the|its|this|each|every|no|one) (?:rises?|judges?|wish(?:es)?|prompts?|made))\b/gi;
const METAPHORS =
  /\b(?:carv\w*|plots?|bury|buries|buried|mourn\w*|testif\w*|testimon\w*|witness\w*|undead|haunt\w*|unborn|remnants?|strangers?)\b/gi;

const QUOTED = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`;
const TEMPLATE = '`(?:[^`\\\\$]|\\\\[\\s\\S]|\\$(?!\\{)|\\$\\{(?:[^{}`]|`[^`]*`|\\{[^{}]*\\})*\\})*`';
const REGEXP = String.raw`(?<=(?:^|[=(,:;!&|?{}[>]|return)\s*)/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/`;
const COMMENT = String.raw`//[^\n]*(?:\n\s*//[^\n]*)*|/\*[\s\S]*?\*/`;
const TOKEN = new RegExp(`${COMMENT}|${QUOTED}|${TEMPLATE}|${REGEXP}`, 'gm');

/** Every file that the rules hold for. docs/rules.md is generated from sources. */
export function heldFiles(): string[] {
  const sources = globSync(['src/**/*.{ts,c,h}', 'test/**/*.{ts,mjs,c,h}'], { cwd: ROOT });
  return [...sources, ...PAGES.filter((page) => page !== 'docs/rules.md')].sort();
}

export function findingsIn(path: string, text = textOf(path)): string[] {
  if (path.endsWith('.md')) return proseOf(text).flatMap((it) => pageFindings(it, PLAIN_PAGES.includes(path)));
  const titles = path.startsWith('test/') ? titlesOf(text) : [];
  return [...commentsOf(text).flatMap((comment) => findings(comment, true)), ...titles.flatMap(titleFindings)];
}

/** What begins with a small letter is no sentence: a cell of a table, say. */
function pageFindings(paragraph: string, isPlain: boolean): string[] {
  const metaphors = paragraph.replace(/`[^`]*`/g, '').match(METAPHORS) ?? [];
  const found = findings(paragraph, isPlain).filter((finding) => !/^begins with [a-z]/.test(finding));
  return [...found, ...metaphors.map((word) => `metaphor "${word}": ${paragraph}`)];
}

function titleFindings(title: string): string[] {
  const found = findings(title.replace(/^(?:[A-Z]\d+[,:]? )+/, ''), false);
  return title.length > MAX_TITLE ? [...found, `${title.length} characters: ${title}`] : found;
}

function findings(paragraph: string, isLengthHeld: boolean): string[] {
  const retired = paragraph.replace(/`[^`]*`/g, '').match(RETIRED) ?? [];
  const sentences = paragraph.split(/(?<=[.!?][)"'*_]*)\s+(?=[("'*_]*(?:[A-Z`\d[]|sexton))/);
  const found = sentences.flatMap((sentence) => {
    const plain = sentence.replace(/`[^`]*`/g, 'X').replace(/\]\([^)]*\)/g, ']');
    const words = plain.split(/\s+/).filter((word) => /\w/.test(word)).length;
    const begins = FIRST_WORDS.exec(plain.replace(/^\W+/, ''))?.map((first) => `begins with ${first}: ${sentence}`);
    return [...(begins ?? []), ...(isLengthHeld && words > MAX_WORDS ? [`${words} words: ${sentence}`] : [])];
  });
  return [...retired.map((noun) => `retired noun "${noun}": ${paragraph}`), ...found];
}

/** The paragraphs of all comments, without tables. An indented line, or an item of a list, is a paragraph. */
export function commentsOf(source: string): string[] {
  const comments = [...source.matchAll(TOKEN)].map(([token]) => token).filter((token) => /^\/[/*]/.test(token));
  return comments.flatMap((comment) =>
    comment
      .replace(/^\/\*+|\*\/$/g, '')
      .replace(/^[ \t]*(?:\/\/|\*(?= |$))[ \t]?/gm, '')
      .replace(/^[ \t]*\|.*$/gm, '')
      .split(/\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d+\.) |[ \t]{2,}\S)/)
      .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
      .filter((paragraph) => /\w/.test(paragraph) && !/^(?:biome-ignore|@ts-|!)/.test(paragraph)),
  );
}

/** First arguments of the functions that register tests, with an x for what a template fills in. */
export function titlesOf(source: string): string[] {
  shared ??= globSync('test/**/*.ts', { cwd: ROOT }).flatMap((file) => registrarsOf(textOf(file), 'export '));
  const imported = shared.filter((name) => new RegExp(String.raw`^import \{[^}]*\b${name}\b`, 'm').test(source));
  const names = ['it', 'test', 'describe', ...registrarsOf(source, ''), ...imported].join('|');
  const call = new RegExp(String.raw`(?<![\w.'\`])(?:${names})(?:\.\w+)?\(\s*(${QUOTED}|${TEMPLATE})`, 'g');
  return [...source.matchAll(call)].map(([, title = '']) => title.slice(1, -1).replace(/\$\{[^}]*\}/g, 'x'));
}
let shared: string[] | undefined;

/** Functions that pass their first parameter on as a title. */
function registrarsOf(source: string, prefix: 'export ' | ''): string[] {
  const declared = source.matchAll(/^( *)(export )?function (\w+)\(\s*\w*[tT]itle: string[\s\S]*?^\1\}/gm);
  return [...declared].flatMap(([, , exported = '', name = '']) => (exported === prefix ? [name] : []));
}

if (import.meta.main) {
  const paths = process.argv.length > 2 ? process.argv.slice(2) : [''];
  for (const file of heldFiles().filter((it) => paths.some((path) => it.startsWith(path))))
    for (const finding of findingsIn(file)) console.log(file, finding);
}
