/** `import { readGraveyard, parseTombstone } from 'sexton'`. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { formatTombstone } from '../../src/core/format/tombstone.ts';
import { type Graveyard, readGraveyard } from '../../src/delivery/npm/index.ts';
import type { Members } from '../../src/runtime/graveyard/members.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';
import { environmentOn, installInto, MAJORS, packed } from './installed.ts';

type Same<A, B> = [A, B] extends [B, A] ? ([keyof A, keyof B] extends [keyof B, keyof A] ? true : false) : false;

// The published graveyard has the members that sexton itself reads: `npm run lint` checks it.
true satisfies Same<Graveyard, Omit<Members, 'held' | 'asleep'>>;

test('the documentation names every key of a tombstone, every phase and every reason', () => {
  const declared = readFileSync(join(packed().directory, 'lib/index.d.ts'), 'utf8');
  const [, tombstone = ''] = /interface Tombstone \{([\s\S]*?)\n\}/.exec(declared) ?? [];
  const keys = [...tombstone.matchAll(/readonly (\w+)\??:/g)].map(([, key = '']) => key);
  const unions = [...declared.matchAll(/type (?:Phase|DeathReason) = (.*);/g)].map(([, union = '']) => union);
  const words = unions.flatMap((union) => union.replaceAll("'", '').split(' | '));
  assert.deepEqual([keys.length > 20, words.length], [true, 15]);
  const said = readFileSync(join(ROOT, 'docs/api.md'), 'utf8');
  const [, table = ''] = /## `Tombstone`([\s\S]*)$/.exec(said) ?? [];
  const missing = [...keys, ...words].filter((word) => !new RegExp(`[\`| ]${word}[\`| ]`).test(table));
  assert.deepEqual(missing, []);
});

async function installed(t: TestContext): Promise<{ readonly scratch: Scratch; readonly folder: string }> {
  const scratch = await tempGraveyard(t);
  const folder = scratch.path('folder');
  mkdirSync(folder);
  installInto(folder);
  return { scratch, folder };
}

const USE = `
  const parsed = parseTombstone('app', 'Born: 2026-01-02T03:04:05Z\\nDied: 2026-01-02T03:04:06Z\\nExitCode: 3\\n');
  if (!parsed.ok) throw new Error(parsed.why);
  readGraveyard(process.argv[2]).then(
    ({ members }) => console.log(JSON.stringify([parsed.tombstone.ExitCode, members.map(({ Name }) => Name)])),
    ({ code }) => console.log(code),
  );
`;

for (const major of MAJORS) {
  test(`on Node ${major} both functions can be imported and required, without a warning`, async (t) => {
    const { scratch, folder } = await installed(t);
    writeFileSync(scratch.path('graveyard/web'), formatTombstone({ Version: 1, Name: 'web' }));
    writeFileSync(join(folder, 'a.mjs'), `import { parseTombstone, readGraveyard } from 'sexton';${USE}`);
    writeFileSync(join(folder, 'a.cjs'), `const { parseTombstone, readGraveyard } = require('sexton');${USE}`);
    for (const [dir, says] of [
      [scratch.graveyard, '[3,["web"]]\n'],
      [scratch.path('nowhere'), 'ENOENT\n'],
    ] as const) {
      for (const file of ['a.mjs', 'a.cjs']) {
        const ran = spawnSync('node', [file, dir], { cwd: folder, env: environmentOn(major), encoding: 'utf8' });
        assert.deepEqual([ran.stdout, ran.stderr], [says, ''], file);
      }
    }
  });
}

test('the types serve ESM, CommonJS and a bundler, in strict TypeScript, without @types/node', async (t) => {
  const { folder } = await installed(t);
  const use = `
    import { type DeathReason, type HistoryEntry, parseTombstone, type Phase, readGraveyard, type Tombstone } from 'sexton';
    export async function main(): Promise<readonly Tombstone[]> {
      const { members, unreadable } = await readGraveyard('/graveyard');
      const reason: DeathReason | undefined = members[0]?.Reason;
      const phase: Phase | undefined = members[0]?.Phase;
      const entry: HistoryEntry | undefined = members[0]?.History?.[0];
      const parsed = parseTombstone('name', 'text');
      const why: string | undefined = parsed.ok ? undefined : parsed.why;
      // @ts-expect-error: a failed parse has no tombstone
      parsed.tombstone;
      return reason || phase || entry || why || unreadable[0]?.why ? members : [];
    }`;
  for (const name of ['a.mts', 'b.cts']) writeFileSync(join(folder, name), use);
  const check = (module: string, resolution: string): void => {
    const flags = ['--strict', '--noEmit', '--types', '', '--target', 'es2024', '--exactOptionalPropertyTypes'];
    const tsc = [join(ROOT, 'node_modules/.bin/tsc'), ...flags, '--module', module, '--moduleResolution', resolution];
    const args = [...tsc, 'a.mts', ...(module === 'nodenext' ? ['b.cts'] : [])];
    execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  };
  check('nodenext', 'nodenext');
  check('esnext', 'bundler');
});

test('a member whose container vanished is lost, and one whose container lives is not', async (t) => {
  const { graveyard } = await tempGraveyard(t);
  for (const Name of ['alive', 'gone']) {
    writeFileSync(join(graveyard, Name), formatTombstone({ Version: 1, Name, Phase: 'running' }));
  }
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(graveyard, '.alive.sock'), resolve));
  t.after(() => server.close());
  const killed = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  assert.equal(spawnSync(NODE, ['--eval', killed, join(graveyard, '.gone.sock')]).signal, 'SIGKILL');
  writeFileSync(join(graveyard, 'Broken Name'), '');
  const { members, unreadable } = await readGraveyard(graveyard);
  const reasons = members.map(({ Name, Reason }) => `${Name} ${Reason}`);
  assert.deepEqual(reasons, ['alive undefined', 'gone lost']);
  assert.deepEqual(unreadable, [{ name: 'Broken Name', why: 'not a member name' }]);
});
