/** In every style a rule finds its bad example, its fix keeps the style, and an ignore hides no other finding. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAllDocuments, visit } from 'yaml';
import type { Edit, Finding } from '../../src/check/finding.ts';
import { fixed } from '../../src/check/fix.ts';
import { parseLocated } from '../../src/check/input/located.ts';
import { lineText, positionAt } from '../../src/check/input/source.ts';
import type { Rule } from '../../src/check/rules/rule.ts';
import { examplesOf, RULES } from '../../src/check/rules/table.ts';
import { checkAs, fixedText } from './rules.ts';

type Style = (text: string) => string;

/** A comment behind each line. Text behind an ignore is its reason and disappears with it. */
const COMMENTED: Style = (text) =>
  lineByLine(text, (line, index) => (/^---$|sexton-ignore/.test(line) ? line : `${line}\t#\tnote ${index} "quoted"`));
const CRLF: Style = (text) => text.replaceAll('\n', '\r\n');
const BOM: Style = (text) => `\ufeff${text}`;

const PLAIN_STYLES: Readonly<Record<string, Style>> = {
  'with CRLF': CRLF,
  'with a byte order mark': BOM,
  'with a byte order mark and CRLF': (text) => BOM(CRLF(text)),
  'without a line end at its end': (text) => text.trimEnd(),
};
const YAML_STYLES: Readonly<Record<string, Style>> = {
  'with tabs and quotes in comments': COMMENTED,
  'with comments and CRLF': (text) => CRLF(COMMENTED(text)),
  'in flow style': flow,
  'in quotes': quoted,
};

function lineByLine(text: string, change: (line: string, index: number) => string): string {
  return text
    .split('\n')
    .map((line, index) => (line === '' ? line : change(line, index)))
    .join('\n');
}

function flow(text: string): string {
  return rewritten(text, (document) =>
    visit(document, {
      Collection(_, node) {
        node.flow = true;
      },
    }),
  );
}

function quoted(text: string): string {
  return rewritten(text, (document) =>
    visit(document, {
      Scalar(_, node) {
        if (typeof node.value === 'string') node.type = 'QUOTE_DOUBLE';
      },
    }),
  );
}

function rewritten(text: string, change: (document: ReturnType<typeof parseAllDocuments>[number]) => void): string {
  return parseAllDocuments(text)
    .map((document) => {
      change(document as never);
      return document.toString({ lineWidth: 70 });
    })
    .join('---\n');
}

/** As JSON; undefined: it is several documents, which JSON has not. */
function json(text: string): string | undefined {
  const [only, ...more] = parseAllDocuments(text);
  return only === undefined || more.length > 0 ? undefined : `${JSON.stringify(only.toJS(), undefined, 2)}\n`;
}

function stylesOf(rule: Rule): readonly (readonly [string, string])[] {
  // The rule on ignores is about comments, which are lost when the text is rewritten.
  const isPlain = rule.on === 'dockerfile' || rule.on === 'ignores';
  const styles = Object.entries({ ...PLAIN_STYLES, ...(isPlain ? {} : YAML_STYLES) });
  const { bad } = examplesOf(rule);
  const asJson = isPlain ? undefined : json(bad);
  return [
    ['as it is', bad],
    ...styles.map(([name, style]) => [name, style(bad)] as const),
    ...(asJson === undefined ? [] : [['as JSON', asJson] as const]),
  ];
}

async function findingsIn(rule: Rule, text: string): Promise<readonly Finding[]> {
  const { findings, unreadable } = await checkAs(rule, text);
  assert.deepEqual(unreadable, [], text);
  return findings;
}

describe('each rule in each style', () => {
  for (const rule of RULES)
    it(`${rule.id} finds the same in every style${rule.isFixable ? ', and its fix keeps it' : ''}`, async () => {
      const before = rulesOf(await findingsIn(rule, examplesOf(rule).bad));
      for (const [style, text] of stylesOf(rule)) {
        const findings = await findingsIn(rule, text);
        assert.deepEqual(rulesOf(findings), before, style);
        if (rule.isFixable) await isRepaired(rule, style, text, findings);
      }
    });

  it('a second --fix of all examples together changes nothing, and the first keeps their style', async () => {
    const all = RULES.filter(({ isFixable, on }) => isFixable && on !== 'dockerfile').map(
      (rule) => examplesOf(rule).bad,
    );
    for (const [style, change] of Object.entries({ ...PLAIN_STYLES, 'with comments': COMMENTED }))
      for (const examples of [all, all.toReversed()]) {
        const text = change(examples.join('---\n'));
        const once = await fixedText(text);
        assert.equal(await fixedText(once), once, style);
        assert.deepEqual(parseLocated(once).problems, [], once);
        keepsStyle(text, once, style);
      }
  });

  it('a comment above or behind, or an annotation, ignores one finding and no other', async () => {
    for (const rule of RULES.filter(({ on }) => on !== 'ignores')) {
      const findings = await findingsIn(rule, examplesOf(rule).bad);
      for (const finding of findings) {
        for (const text of commentsFor(finding, rule)) await isIgnored(rule, text, finding, findings);
        const object = 'metadata: {name: web';
        if (rule.on !== 'workload' && rule.on !== 'budget') continue;
        const reason = `check.sexton.dev/ignore-${finding.rule}: known`;
        const { bad } = examplesOf(rule);
        const annotated = bad.replaceAll(object, `${object}, annotations: {${reason}}`);
        assert.notEqual(annotated, bad, rule.id);
        const left = await findingsIn(rule, annotated);
        assert.ok(!left.some((one) => one.rule === finding.rule), annotated);
      }
    }
  });
});

function rulesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ rule }) => rule).sort();
}

async function isRepaired(rule: Rule, style: string, text: string, found: readonly Finding[]): Promise<void> {
  const [once, ...others] = fixed(found.filter((one) => one.rule === rule.id));
  assert.ok(once !== undefined && others.length === 0, `${style}: nothing is repaired:\n${text}`);
  const after = once.text;
  const left = (await findingsIn(rule, after)).filter((one) => one.rule === rule.id);
  assert.equal(fixed(left).length, 0, `${style}: a second run would repair more:\n${after}`);
  assert.equal(left.length, 0, `${style}: it is still found:\n${after}`);
  assert.equal(after, edited(text, once.edits), style);
  keepsStyle(text, after, style);
  if (style === 'as JSON') assert.doesNotThrow(() => JSON.parse(after), after);
}

function keepsStyle(text: string, after: string, style: string): void {
  assert.deepEqual(after.match(/#\tnote.*/g), text.match(/#\tnote.*/g), `${style}: comments`);
  assert.equal(/(?<!\r)\n/.test(after), /(?<!\r)\n/.test(text), `${style}: line ends`);
  assert.equal(after.lastIndexOf('\ufeff'), text.lastIndexOf('\ufeff'), `${style}: byte order mark`);
}

function edited(text: string, edits: readonly Edit[]): string {
  const fromEnd = edits.toSorted((a, b) => b.start - a.start);
  return fromEnd.reduce((rest, { start, end, text: by }) => rest.slice(0, start) + by + rest.slice(end), text);
}

function commentsFor({ rule: id, place: { source, start } }: Finding, { on }: Rule): readonly string[] {
  const { line } = positionAt(source, start);
  const from = source.lines[line - 1] ?? 0;
  const whole = lineText(source, line);
  const indent = /^\s*/.exec(whole)?.[0] ?? '';
  const end = from + whole.length;
  const above = `${source.text.slice(0, from)}${indent}# sexton-ignore ${id}: known\n${source.text.slice(from)}`;
  const behind = `${source.text.slice(0, end)} # sexton-ignore ${id}: known${source.text.slice(end)}`;
  // A shell reads what is behind an instruction of a Dockerfile.
  return on === 'dockerfile' ? [above] : [above, behind];
}

async function isIgnored(rule: Rule, text: string, finding: Finding, before: readonly Finding[]): Promise<void> {
  const { findings, ignored, unreadable } = await checkAs(rule, text);
  assert.deepEqual(unreadable, [], text);
  const gone = ignored.map((one) => one.finding);
  assert.ok(
    gone.some(({ rule: id, message }) => id === finding.rule && message === finding.message),
    text,
  );
  // A line may have several of the same rule, and none of another.
  assert.deepEqual([...new Set(rulesOf(gone))], [finding.rule]);
  assert.deepEqual(messagesOf([...findings, ...gone]), messagesOf(before), text);
}

function messagesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ rule, message }) => `${rule} ${message}`).sort();
}
