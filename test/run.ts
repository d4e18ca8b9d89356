/**
 * `node test/run.ts [--containers] [--grep PATTERN] [PATH ...]`: runs the test files whose path contains one of PATH (all
 * without), two at a time. `--containers` takes those that need a container engine, which are left out otherwise.
 *
 * The last line is `N passed, N failed`, with `, N skipped` when there are any. The run fails when a test failed, when nothing
 * ran, and when a process that was started below it is still there.
 */
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { killLeftovers } from './run/leftovers.ts';
import { FileReports } from './run/reports.ts';

const ROOT = join(import.meta.dirname, '..');
const CONTAINERS = 'test/pods/real/';
const FILE_LIMIT_MS = 600_000;
const MARKER = 'TEST_RUN_MARK';

const { values, positionals } = parseArgs({
  options: { containers: { type: 'boolean', default: false }, grep: { type: 'string' } },
  allowPositionals: true,
});

const mark = randomBytes(8).toString('hex');
process.env[MARKER] = mark;
process.chdir(ROOT);

// Broken off: what the tests started must go as well.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => void killLeftovers(`${MARKER}=${mark}`).then(() => process.exit(code)));
}

const files = globSync('test/**/*.test.ts')
  .sort()
  .filter((file) => file.startsWith(CONTAINERS) === values.containers)
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)));
const reports = new FileReports((file) => relative(ROOT, file));

if (files.length > 0) {
  const events = run({
    files: files.map((file) => join(ROOT, file)),
    concurrency: 2,
    timeout: FILE_LIMIT_MS,
    ...(values.grep !== undefined && { testNamePatterns: [new RegExp(values.grep)] }),
  });
  for await (const event of events) reports.take(event);
  reports.end();
}

const { passed, failed, skipped } = reports.totals;
const leftovers = await killLeftovers(`${MARKER}=${mark}`);
for (const { pid, command } of leftovers) process.stdout.write(`left running, killed: ${pid} ${command}\n`);
if (passed + failed === 0) process.stdout.write('no test ran\n');
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = failed > 0 || passed === 0 || leftovers.length > 0 ? 1 : 0;
