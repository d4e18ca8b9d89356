import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { NODE, ROOT } from '../helpers/paths.ts';
import { FileReports } from './reports.ts';

test('E3 what was skipped is counted by its reason', (t) => {
  t.mock.method(process.stdout, 'write', () => true);
  const reports = new FileReports((file) => file, false);
  const skipped = (name: string, skip: string) =>
    reports.take({
      type: 'test:pass',
      data: { name, file: 'a.test.ts', skip, details: { duration_ms: 1 }, nesting: 0, testNumber: 1 },
    } as never);
  skipped('one', 'needs root');
  skipped('two', 'needs root');
  skipped('three', 'needs nginx');
  reports.end();
  assert.deepEqual(
    [...reports.skips],
    [
      ['needs root', 2],
      ['needs nginx', 1],
    ],
  );
  assert.equal(reports.totals.skipped, 3);
});

test('a suite that is skipped as a whole counts as one, as nothing is heard of its tests', (t) => {
  t.mock.method(process.stdout, 'write', () => true);
  const reports = new FileReports((file) => file, false);
  const details = { duration_ms: 1, type: 'suite' };
  for (const suite of [{ name: 'skipped', skip: 'needs root' }, { name: 'run' }])
    reports.take({
      type: 'test:pass',
      data: { ...suite, file: 'a.test.ts', details, nesting: 0, testNumber: 1 },
    } as never);
  reports.end();
  assert.deepEqual([...reports.skips], [['needs root', 1]]);
});

test('a suite that fails by itself counts, and one that a test fails does not', (t) => {
  t.mock.method(process.stdout, 'write', () => true);
  const reports = new FileReports((file) => file, false);
  for (const failureType of ['testCodeFailure', 'hookFailed', 'subtestsFailed']) {
    const error = Object.assign(new Error(failureType), { failureType });
    const details = { duration_ms: 1, type: 'suite', error };
    reports.take({
      type: 'test:fail',
      data: { name: failureType, file: 'a.test.ts', details, nesting: 0, testNumber: 1 },
    } as never);
  }
  reports.end();
  assert.deepEqual(reports.totals, { passed: 0, failed: 2, skipped: 0 });
});

test('a file without a test fails, unless only tests of some titles were asked for', (t) => {
  t.mock.method(process.stdout, 'write', () => true);
  for (const isPicked of [false, true]) {
    const reports = new FileReports((file) => file, isPicked);
    const details = { duration_ms: 1, type: 'test' };
    reports.take({ type: 'test:pass', data: { name: 'a.test.ts', file: 'a.test.ts', details } } as never);
    reports.take({ type: 'test:summary', data: { file: 'a.test.ts', duration_ms: 1 } } as never);
    reports.end();
    assert.deepEqual(reports.totals, { passed: 0, failed: isPicked ? 0 : 1, skipped: 0 });
  }
});

test('E1 a missing example is named together with those that exist, in one line', () => {
  const { stderr, status } = spawnSync(NODE, [join(ROOT, 'examples/run.ts'), 'singal-demo'], { encoding: 'utf8' });
  assert.match(
    stderr,
    /^example: no such example: singal-demo; there are agent-sandbox, controller-demo, demo, [-a-z, ]+, web-server\n$/,
  );
  assert.equal(status, 2);
});
