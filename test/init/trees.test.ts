/** Trees of processes that grow at random, and a stop at a random moment: nothing is untold, told twice, or left. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, send } from '../helpers/process.ts';
import { build } from '../helpers/program.ts';
import { chance, inRounds, roundsOr, SEED } from '../helpers/rounds.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { STATIC } from './builds.ts';
import { canUnshare, PID_NAMESPACE } from './scripted.ts';

const ROUNDS = roundsOr(200, 0);

test(`${ROUNDS} random trees: parents first, each process once, and all of them`, async (t) => {
  if (!canUnshare()) return t.skip('needs PID namespaces');
  const scratch = await tempGraveyard(t);
  const tree = build('init/tree.c');
  let told = 0;
  await inRounds(ROUNDS, 4, async (index) => {
    const next = chance(SEED + index);
    const log = scratch.path(`log-${index}`);
    const [program = '', ...words] = [...PID_NAMESPACE, STATIC.path, '--', tree, String(SEED + index), log];
    const outer = spawn(program, words, { stdio: 'inherit' });
    const ended = new Promise<number | null>((resolve) => outer.once('exit', (code) => resolve(code)));
    await waitFor('the first process is there', () => existsSync(log) && readFileSync(log, 'utf8').includes('starts'));
    await sleep(next() * 60);
    for (const pid of childrenOf(outer.pid ?? 0)) send(pid, 'SIGTERM');
    assert.equal(await within('init ends', ended), 0);
    told += judge(readFileSync(log, 'utf8'));
  });
  t.diagnostic(`${told} processes were told by init`);
  assert.ok(told > ROUNDS);
});

/** How many processes init has told. */
function judge(log: string): number {
  const words = new Map<string, string[]>();
  for (const line of log.trim().split('\n')) {
    const [pid = '', parent = '', word = ''] = line.split(' ');
    words.set(pid, [...(words.get(pid) ?? []), word]);
    if (word === 'told') assert.equal(parent, '1', `${pid} was told before its parent ${parent} had ended:\n${log}`);
  }
  for (const [pid, seen] of words) {
    const times = seen.filter((word) => word === 'told').length;
    assert.ok(times <= 1, `${pid} was told ${times} times:\n${log}`);
    assert.ok(seen.length > 1, `${pid} has neither ended by itself nor had TERM:\n${log}`);
  }
  return [...words.values()].filter((seen) => seen.includes('told')).length;
}
