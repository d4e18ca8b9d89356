/**
 * Findings as JUnit: a suite for each input, and in it a case for each error or warning. It has what Surefire's schema
 * asks for; Jenkins and GitLab read less.
 */
import type { Result } from '../check.ts';
import { positionAt } from '../input/source.ts';

export function junitOf(result: Result): string {
  const paths = new Set([...result.sources, ...result.unreadable].map(({ path }) => path));
  const suites = [...paths].map((path) => suiteOf(path, result));
  const failures = suites.reduce((sum, suite) => sum + suite.failures, 0);
  const errors = suites.reduce((sum, suite) => sum + suite.errors, 0);
  const tests = suites.reduce((sum, suite) => sum + suite.tests, 0);
  const root = `<testsuites name="sexton check" tests="${tests}" failures="${failures}" errors="${errors}" time="0">`;
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
    const text = xml(`${path}${line === undefined ? '' : `:${line}`}: ${why}`);
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
    .replaceAll(/[&<>"'\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}
