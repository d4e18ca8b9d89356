/**
 * Findings as JUnit: a suite for each input, and in it a case for each error or warning. It has what Surefire's schema
 * asks for; Jenkins and GitLab read less.
 */
import type { Result } from '../check.ts';
import { positionAt } from '../input/source.ts';

export function junitOf(result: Result): string {
  const paths = new Set([...result.sources, ...result.unreadable].map(({ path }) => path));
  const suites = [...paths].map((path) => suiteOf(path, result));
  const sum = (of: (suite: Suite) => number): number => suites.reduce((total, suite) => total + of(suite), 0);
  const counts = countsText({
    tests: sum(({ tests }) => tests),
    failures: sum(({ failures }) => failures),
    errors: sum(({ errors }) => errors),
  });
  const texts = suites.map(({ path, cases, ...of }) => {
    const head = `<testsuite name="${xml(path)}" ${countsText(of)} skipped="0" time="0">`;
    return `  ${head}\n${cases.map((one) => `    ${one}\n`).join('')}  </testsuite>\n`;
  });
  const root = `<testsuites name="sexton check" ${counts} time="0">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n${texts.join('')}</testsuites>\n`;
}

interface Counts {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
}

interface Suite extends Counts {
  readonly path: string;
  readonly cases: readonly string[];
}

function suiteOf(path: string, { findings, unreadable }: Result): Suite {
  const own = findings.filter(({ place, severity }) => place.source.path === path && severity !== 'info');
  const broken = unreadable.filter((one) => one.path === path);
  const failures = own.map(({ rule, subject, severity, message, place }) => {
    const { line } = positionAt(place.source, place.start);
    const text = xml(`${path}:${line}: ${message}`);
    return caseOf(
      path,
      `${rule} ${subject}`,
      `<failure type="${severity}" message="${xml(message)}">${text}</failure>`,
    );
  });
  const errors = broken.map(({ line, why }) => {
    const text = xml(`${path}${line === undefined ? '' : `:${line}`}: ${why}`);
    return caseOf(path, 'read', `<error type="unreadable" message="${xml(why)}">${text}</error>`);
  });
  const cases = [...failures, ...errors];
  const all = cases.length > 0 ? cases : [caseOf(path, 'sexton check', '')];
  return { path, cases: all, tests: all.length, failures: own.length, errors: broken.length };
}

function caseOf(path: string, name: string, body: string): string {
  return `<testcase classname="${xml(path)}" name="${xml(name)}" time="0">${body}</testcase>`;
}

function countsText({ tests, failures, errors }: Counts): string {
  return `tests="${tests}" failures="${failures}" errors="${errors}"`;
}

/** XML 1.0 has no other control characters, and keeps tabs and line ends of an attribute only as references. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?')
    .replaceAll(/[&<>"'\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}
