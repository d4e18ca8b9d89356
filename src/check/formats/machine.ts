/**
 * Findings for programs: JSON with its schema, SARIF 2.1.0, JUnit, GitHub's workflow commands, GitLab's code quality,
 * Markdown.
 */
import type { Result } from '../check.ts';
import type { Finding, Severity } from '../finding.ts';
import { fingerprintsOf } from '../fingerprint.ts';
import { type Place, positionAt } from '../input/source.ts';
import { RULES } from '../rules/table.ts';
import type { Interval } from '../stop/interval.ts';
import { summaryOf } from './text.ts';

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
  return `${JSON.stringify(value, null, 2)}\n`;
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

const SARIF_LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

/** docs.oasis-open.org/sarif/sarif/v2.1.0 */
export function sarifOf(result: Result, version: string): string {
  const prints = fingerprintsOf(result.findings);
  const rules = RULES.map((rule) => ({
    id: rule.id,
    shortDescription: { text: rule.title },
    fullDescription: { text: rule.why },
    help: { text: rule.remedy },
    defaultConfiguration: { level: SARIF_LEVELS[rule.severity] },
  }));
  const sarif = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'sexton', semanticVersion: version, rules } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: result.unreadable.length === 0,
            toolExecutionNotifications: result.unreadable.map(({ path, line, why }) => ({
              level: 'error',
              message: { text: why },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: uriOf(path) },
                    ...(line !== undefined && { region: { startLine: line } }),
                  },
                },
              ],
            })),
          },
        ],
        results: result.findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: RULES.findIndex(({ id }) => id === finding.rule),
          level: SARIF_LEVELS[finding.severity],
          message: { text: finding.message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: uriOf(finding.place.source.path) },
                region: regionOf(finding.place),
              },
              logicalLocations: [{ fullyQualifiedName: finding.subject, kind: 'resource' }],
            },
          ],
          partialFingerprints: { 'sexton/v1': prints.get(finding) },
          ...(finding.edits.length > 0 && { fixes: [fixOf(finding)] }),
        })),
      },
    ],
  };
  return `${JSON.stringify(sarif, null, 2)}\n`;
}

function fixOf({ edits, rule }: Finding) {
  const [first] = edits;
  return {
    description: { text: RULES.find(({ id }) => id === rule)?.remedy ?? rule },
    artifactChanges: [
      {
        artifactLocation: { uri: uriOf(first?.source.path ?? '') },
        replacements: edits.map((edit) => ({
          deletedRegion: { charOffset: edit.start, charLength: edit.end - edit.start },
          insertedContent: { text: edit.text },
        })),
      },
    ],
  };
}

function regionOf({ source, start, end }: Place) {
  const from = positionAt(source, start);
  const to = positionAt(source, Math.max(start, end));
  return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
}

function uriOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** As Jenkins and GitLab read it: a case for each checked input, failed where it has errors or warnings. */
export function junitOf(result: Result): string {
  const suites = result.sources.map(({ path }) => {
    const own = result.findings.filter(({ place, severity }) => place.source.path === path && severity !== 'info');
    const broken = result.unreadable.filter((one) => one.path === path);
    const cases = [
      ...own.map((finding) => {
        const { line } = positionAt(finding.place.source, finding.place.start);
        const name = xml(`${finding.rule} ${finding.subject}`);
        const text = xml(`${path}:${line}: ${finding.message}`);
        return `    <testcase classname="${xml(path)}" name="${name}"><failure type="${finding.severity}" message="${xml(finding.message)}">${text}</failure></testcase>`;
      }),
      ...broken.map(
        ({ why }) => `    <testcase classname="${xml(path)}" name="read"><error message="${xml(why)}"/></testcase>`,
      ),
    ];
    const all = cases.length > 0 ? cases : [`    <testcase classname="${xml(path)}" name="sexton check"/>`];
    return `  <testsuite name="${xml(path)}" tests="${all.length}" failures="${own.length}" errors="${broken.length}">\n${all.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sexton check">\n${suites.join('\n')}\n</testsuites>\n`;
}

function xml(text: string): string {
  const escapes: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  };
  // XML 1.0 has no other control characters.
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '?')
    .replaceAll(/[&<>"']/g, (char) => escapes[char] ?? char);
}

const GITHUB_LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** Workflow commands: github.com/actions/toolkit, packages/core/src/command.ts has the escapes. */
export function githubOf({ findings, unreadable }: Result): string {
  const lines = findings.map(({ rule, severity, message, place }) => {
    const { line, column } = positionAt(place.source, place.start);
    const end = positionAt(place.source, place.end).line;
    const file = property(place.source.path);
    return `::${GITHUB_LEVELS[severity]} file=${file},line=${line},endLine=${end},col=${column},title=${property(`sexton ${rule}`)}::${data(message)}`;
  });
  const broken = unreadable.map(
    ({ path, line, why }) => `::error file=${property(path)}${line === undefined ? '' : `,line=${line}`}::${data(why)}`,
  );
  return [...lines, ...broken].map((line) => `${line}\n`).join('');
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

const GITLAB_LEVELS: Readonly<Record<Severity, string>> = { error: 'major', warning: 'minor', info: 'info' };

/** docs.gitlab.com/ci/testing/code_quality: the fields that GitLab needs. */
export function gitlabOf({ findings }: Result): string {
  const prints = fingerprintsOf(findings);
  const issues = findings.map((finding) => ({
    description: finding.message,
    check_name: finding.rule,
    fingerprint: prints.get(finding),
    severity: GITLAB_LEVELS[finding.severity],
    location: {
      path: finding.place.source.path,
      lines: { begin: positionAt(finding.place.source, finding.place.start).line },
    },
  }));
  return `${JSON.stringify(issues, null, 2)}\n`;
}

export function markdownOf(result: Result): string {
  const rows = result.findings.map(({ rule, severity, message, place, subject }) => {
    const { line } = positionAt(place.source, place.start);
    return `| ${severity} | ${rule} | ${cell(subject)} | ${cell(message)} | \`${cell(place.source.path)}:${line}\` |`;
  });
  const table = ['| severity | rule | object | finding | place |', '|---|---|---|---|---|', ...rows].join('\n');
  return `${result.findings.length === 0 ? '' : `${table}\n\n`}${summaryOf(result)}`;
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
