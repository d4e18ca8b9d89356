/** The model of a stop in src/init/protocol.pml, checked by SPIN (spinroot.com): every state is visited. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';

const MODEL = join(ROOT, 'src/init/protocol.pml');
const SKIP = spawnSync('spin', ['-V']).error === undefined ? false : 'spin is not installed';

/** Returns the failed property, or the number of states. */
function check(...without: readonly string[]): { readonly failed: string | undefined; readonly states: number } {
  const cwd = temporaryDirectory();
  execFileSync('spin', ['-a', ...without.map((rule) => `-DWITHOUT_${rule}`), MODEL], { cwd });
  execFileSync('cc', ['-O2', '-DSAFETY', '-o', 'pan', 'pan.c'], { cwd });
  const output = execFileSync(join(cwd, 'pan'), ['-m10000', '-w24'], { cwd, encoding: 'utf8', maxBuffer: 1e8 });
  assert.doesNotMatch(output, /max search depth too small|out of memory/);
  const failed = /^pan:\d+: (?:assertion violated )?(.*) \(at depth/m.exec(output)?.[1];
  return { failed, states: Number(/(\d+) states, stored/.exec(output)?.[1]) };
}

test('a stop keeps its properties in every order of requests, ends, deaths and sleeps', { skip: SKIP }, (t) => {
  const { failed, states } = check();
  assert.equal(failed, undefined);
  t.diagnostic(`${states} states`);
});

const FAILS = {
  FORWARDED: '(signals==0)',
  LOOK_BEFORE_SLEEP: '(signals==0)',
  LOST: '(signals>0)',
  STOP_BEFORE_KILL: '(signals>0)',
  RECORD: '(has_record||is_leaving_unrecorded)',
  WHOLE_COMMITS: '((alive&&(requests==0))&& !(mains_ended))',
};

for (const [rule, property] of Object.entries(FAILS))
  test(`a stop breaks a property of the model without the rule ${rule}`, { skip: SKIP }, () => {
    assert.equal(check(rule).failed, property);
  });

test('the model names every event and operation of the protocol, in it or left out', () => {
  const code = readFileSync(join(ROOT, 'src/init/system/frame.h'), 'utf8');
  const names = [...code.matchAll(/\b(?:EV|OP)_([A-Z_]+)/g)].map(([, name = '']) =>
    name.toLowerCase().replaceAll('_', '-'),
  );
  const [, lists = ''] = /In the model: ([\s\S]*?)\*\//.exec(readFileSync(MODEL, 'utf8')) ?? [];
  const listed = lists.replace(/Left out,.*:/, '').split(/[\s*]+/);
  assert.deepEqual(listed.filter(Boolean).sort(), [...new Set(names)].sort());
});
