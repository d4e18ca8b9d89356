/**
 * Findings for programs: JSON with its schema, and GitHub's workflow commands.
 */
import type { Result } from '../check.ts';
import type { Finding, Severity } from '../finding.ts';
import { fingerprintsOf } from '../fingerprint.ts';
import { positionAt, trimmed } from '../input/source.ts';
import type { Interval } from '../stop/interval.ts';

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

const GITHUB_LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** Workflow commands: github.com/actions/toolkit, packages/core/src/command.ts has the escapes. */
export function githubOf({ findings, unreadable }: Result): string {
  const lines = findings.map(({ rule, severity, message, place }) => {
    const { source } = place;
    const { line, column } = positionAt(source, place.start);
    const end = positionAt(source, trimmed(source, place).end).line;
    // A column is for a finding within one line.
    const where = end === line ? `line=${line},col=${column}` : `line=${line},endLine=${end}`;
    return `::${GITHUB_LEVELS[severity]} file=${property(source.path)},${where},title=${property(`sexton ${rule}`)}::${data(message)}`;
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
