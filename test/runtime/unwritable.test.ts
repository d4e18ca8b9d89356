/** What a person reads of a graveyard that cannot be written, and of the text form of the log. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { needsRoot } from './graveyard/volume.ts';

const UID = 4321;

/** Lines of the log of one whole life on that graveyard, as another user than its owner. */
function linesOf(format: 'json' | 'text', mode: number): readonly string[] {
  const dir = temporaryDirectory();
  chmodSync(dir, 0o755);
  mkdirSync(join(dir, 'g'));
  chmodSync(join(dir, 'g'), mode);
  const flags = ['--graveyard', join(dir, 'g'), '--restart-policy', 'Never', '--log-format', format, '--name', 'web'];
  const words = ['run', ...flags, '--drain', '10ms', '--', 'sh', '-c', 'kill $PPID; sleep 60'];
  const options = { env: { PATH: process.env.PATH }, encoding: 'utf8', uid: UID, gid: UID } as const;
  const { stderr, status } = spawnSync(SEXTON, words, options);
  assert.equal(status, 143, stderr);
  return stderr.trimEnd().split('\n');
}

for (const [what, mode] of [
  ['written', 0o755],
  ['read either', 0o700],
] as const) {
  test(`D7 a graveyard that cannot be ${what} is one line with its remedy, among lines of JSON only`, {
    skip: needsRoot,
  }, () => {
    type Line = { level: string; message: string; error?: string };
    const lines = linesOf('json', mode).map((line) => JSON.parse(line) as Line);
    const bad = lines.filter(({ level }) => level === 'warn' || level === 'error');
    assert.equal(bad.length, 1, JSON.stringify(bad));
    assert.match(
      bad[0]?.message ?? '',
      /^cannot (write|prepare) [^:]+: EACCES: permission denied; make the directory writable for this uid \(mode 0777, or fsGroup\); SELinux also wants the label container_file_t \(:z\)$/,
    );
    assert.equal(bad[0]?.error, undefined);
  });
}

test('D7 lines of text have the time with its zone, and nothing of JSON in them', { skip: needsRoot }, () => {
  const lines = linesOf('text', 0o755);
  for (const line of lines) assert.match(line, /^\d\d:\d\d:\d\d\.\d{3}Z (info|warn|error) +web: /);
  const dead = lines.find((line) => line.includes(' dead '));
  assert.match(dead ?? '', / summary=stopped in /);
  for (const line of lines) assert.doesNotMatch(line, /[{}[\]"]/);
});
