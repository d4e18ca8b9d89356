/** Findings for programs: JSON with its schema, GitHub's workflow commands, and JUnit. */
import { jsonText } from '../../text/print.ts';
import type { Result } from '../check.ts';
import { type Finding, fingerprintsOf, SEVERITIES } from '../finding.ts';
import { positionAt, trimmed } from '../input/source.ts';
import { RULE_IDS } from '../rules/table.ts';
import type { Interval } from '../stop/interval.ts';
import { placeText } from './text.ts';

/** Raised with every change that a reader of version 1 would not understand. */
export const CHECK_VERSION = 1;

export function jsonOf(result: Result): string {
  const prints = fingerprintsOf(result.findings);
  const value = {
    version: CHECK_VERSION,
    findings: result.findings.map((finding) => ({ ...plain(finding), fingerprint: prints.get(finding) })),
    ignored: result.ignored.map(({ finding, reason }) => ({ ...plain(finding), ...(reason && { reason }) })),
    unreadable: result.unreadable.map(({ path, line, why }) => ({ path, ...(line !== undefined && { line }), why })),
    workloads: result.workloads.map(({ workload, view }) => ({
      kind: workload.kind,
      name: workload.name,
      path: workload.pod.source.path,
      gracePeriodMs: view.timeline.graceMs,
      endMs: bounds(view.timeline.end),
      containers: view.timeline.containers.map(({ name, plan, term, told, end, killAt, killed }) => ({
        name,
        native: plan.isNative,
        termMs: bounds(term),
        toldMs: bounds(told),
        endMs: bounds(end),
        killMs: bounds(killAt),
        killed,
      })),
    })),
  };
  return jsonText(value);
}

function plain({ rule, severity, message, place, subject, container, atMs, edits }: Finding) {
  const { line, column } = positionAt(place.source, place.start);
  return {
    rule,
    severity,
    message,
    path: place.source.path,
    line,
    column,
    subject,
    ...(container !== undefined && { container }),
    ...(atMs !== undefined && { atMs }),
    fixable: edits.length > 0,
  };
}

function bounds({ minMs, maxMs }: Interval) {
  return { min: minMs, max: Number.isFinite(maxMs) ? maxMs : null };
}

const OPTIONAL: readonly string[] = ['container', 'atMs', 'reason', 'line'];
const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 1 } as const;
const MS = { type: 'number', minimum: 0 } as const;
const BOUNDS = record({ min: MS, max: { anyOf: [MS, { type: 'null' }], description: 'null: nothing bounds it' } });
const FINDING = {
  rule: { enum: RULE_IDS },
  severity: { enum: SEVERITIES },
  message: TEXT,
  path: TEXT,
  line: COUNT,
  column: { ...COUNT, description: 'in UTF-16 code units' },
  subject: TEXT,
  container: TEXT,
  atMs: { ...MS, description: 'since the stop request: where it hurts' },
  fixable: { type: 'boolean' },
} as const;

/** JSON Schema (draft 2020-12): `sexton check --schema`. */
export const CHECK_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'What sexton check has found',
  ...record({
    version: { const: CHECK_VERSION },
    findings: listOf(record({ ...FINDING, fingerprint: { type: 'string', pattern: '^[0-9a-f]{32}$' } })),
    ignored: listOf(record({ ...FINDING, reason: TEXT })),
    unreadable: listOf(record({ path: TEXT, line: COUNT, why: TEXT })),
    workloads: listOf(
      record({
        kind: TEXT,
        name: TEXT,
        path: TEXT,
        gracePeriodMs: MS,
        endMs: BOUNDS,
        containers: listOf(
          record({
            name: TEXT,
            native: { type: 'boolean' },
            termMs: BOUNDS,
            toldMs: { ...BOUNDS, description: 'when its own program gets a stop signal' },
            endMs: BOUNDS,
            killMs: { ...BOUNDS, description: 'when the kubelet kills it if it has not ended' },
            killed: { enum: ['never', 'maybe', 'always'] },
          }),
        ),
      }),
    ),
  }),
} as const;

function record(properties: Readonly<Record<string, unknown>>) {
  const required = Object.keys(properties).filter((key) => !OPTIONAL.includes(key));
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

function listOf(items: unknown) {
  return { type: 'array', items } as const;
}

/** Workflow commands: github.com/actions/toolkit, packages/core/src/command.ts has the escapes. */
export function githubOf({ findings, unreadable }: Result): string {
  const lines = findings.map(({ rule, severity, message, place }) => {
    const { source } = place;
    const { line, column } = positionAt(source, place.start);
    const end = positionAt(source, trimmed(source, place).end).line;
    // A column is for a finding within one line.
    const where = end === line ? `line=${line},col=${column}` : `line=${line},endLine=${end}`;
    const level = severity === 'info' ? 'notice' : severity;
    return `::${level} file=${property(source.path)},${where},title=${property(`sexton ${rule}`)}::${data(message)}`;
  });
  const broken = unreadable.map(
    ({ path, line, why }) => `::error file=${property(path)}${line === undefined ? '' : `,line=${line}`}::${data(why)}`,
  );
  return [...lines, ...broken].map((line) => `${line}\n`).join('');
}

function data(text: string): string {
  return text
    .replaceAll(/[^\P{Cc}\r\n]/gu, '?')
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** By Surefire's schema: a suite for each input, a case for each error or warning. Jenkins and GitLab read less. */
export function junitOf(result: Result): string {
  const paths = new Set([...result.sources, ...result.unreadable].map(({ path }) => path));
  const suites = [...paths].map((path) => suiteOf(path, result));
  const all = (of: 'tests' | 'failures' | 'errors') => suites.reduce((sum, suite) => sum + suite[of], 0);
  const counts = `tests="${all('tests')}" failures="${all('failures')}" errors="${all('errors')}"`;
  const root = `<testsuites name="sexton check" ${counts} time="0">`;
  const texts = suites.map(({ text }) => text).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n${texts}</testsuites>\n`;
}

function suiteOf(path: string, { findings, unreadable }: Result) {
  const own = findings.filter(({ place, severity }) => place.source.path === path && severity !== 'info');
  const broken = unreadable.filter((one) => one.path === path);
  const failures = own.map(({ rule, subject, severity, message, place }) => {
    const { line } = positionAt(place.source, place.start);
    const text = xml(`${path}:${line}: ${message}`);
    const failure = `<failure type="${severity}" message="${xml(message)}">${text}</failure>`;
    return caseOf(path, `${rule} ${subject}`, failure);
  });
  const errors = broken.map(({ line, why }) => {
    const text = xml(`${placeText(path, line)}: ${why}`);
    return caseOf(path, 'read', `<error type="unreadable" message="${xml(why)}">${text}</error>`);
  });
  const all = [...failures, ...errors];
  const cases = all.length > 0 ? all : [caseOf(path, 'sexton check', '')];
  const counts = `tests="${cases.length}" failures="${own.length}" errors="${broken.length}"`;
  const head = `<testsuite name="${xml(path)}" ${counts} skipped="0" time="0">`;
  const text = `  ${head}\n${cases.map((one) => `    ${one}\n`).join('')}  </testsuite>\n`;
  return { text, tests: cases.length, failures: own.length, errors: broken.length };
}

function caseOf(path: string, name: string, body: string): string {
  return `<testcase classname="${xml(path)}" name="${xml(name)}" time="0">${body}</testcase>`;
}

/** XML 1.0 has no other control characters, and keeps tabs and line ends of an attribute only as references. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?')
    .replaceAll(/[&<>"'\t\n\r\x7f-\x9f]/g, (char) => `&#${char.charCodeAt(0)};`);
}
