import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Log } from '../../src/runtime/log/log.ts';
import { TerminationLogWriter } from '../../src/runtime/log/termination-log.ts';
import { Life, main } from '../core/life.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitFor } from '../helpers/wait.ts';

const log = { say: (_: string, words: string) => assert.fail(words) } as unknown as Log;

test('while a command stops, its own message is neither written over nor cut off', async () => {
  const path = join(temporaryDirectory(), 'termination');
  const config = main(
    { drain: { kind: 'fixed', ms: 1_000 }, gracePeriodMs: 9_000 },
    { on: { 15: { afterMs: 500, code: 3 } } },
  );
  const life = new Life(config).feed({ type: 'signal', signal: 15, senderPid: 0, fromTerminal: false });
  const writer = new TerminationLogWriter({ member: life.config, terminationLog: { path, isNamed: true }, log });
  const says = (phase: string) => () => {
    writer.follow(life.state);
    return existsSync(path) && readFileSync(path, 'utf8').includes(`"Unfinished":"${phase}"`);
  };
  writer.follow(life.state);
  await waitFor('the drain is written', says('drain'));
  const { size } = statSync(path);
  life.pass(1_100);
  await waitFor('the ladder is written', says('ladder'));
  assert.equal(statSync(path).size, size);
  appendFileSync(path, 'out of ');
  life.feed({ type: 'signal', signal: 15, senderPid: 0, fromTerminal: false });
  writer.follow(life.state);
  appendFileSync(path, 'paper\n');
  life.pass(1_000);
  await writer.end(life.state);
  assert.equal(readFileSync(path, 'utf8'), 'out of paper\n');
});
