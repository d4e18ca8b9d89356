import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostEvent } from '../../src/runtime/host/host.ts';
import { eventOf, programOf } from '../../src/runtime/host/host-events.ts';
import { command, instant, mainConfig, probes } from '../core/helpers.ts';

const ENDED = { type: 'helperEnded', seq: 1, at: 0, id: 7, code: 1, signal: undefined, errno: undefined } as const;
const endedOf = (event: Exclude<HostEvent, { type: 'endWritten' }>, program?: string): unknown[] => {
  const told = eventOf(event, instant(0), false, program);
  return told.type === 'taskEnded' ? [told.detail, told.output] : [told.type];
};

test('a program of a probe that is not there is named', () => {
  const config = mainConfig(probes({ liveness: {} }));
  const task = { key: 'liveness', id: 7, sinceMs: 0, untilMs: 1_000, ending: false } as const;
  const event = { ...ENDED, code: undefined, errno: 'ENOENT', output: '' };
  const program = programOf(config, { tasks: [task] }, event);
  assert.equal(program, command('liveness').argv[0]);
  assert.match(String(endedOf(event, program)[0]), /^liveness cannot be started: not found; check the spelling/);
  assert.equal(programOf(config, { tasks: [] }, event), undefined);
});

test('output that is cut off says so', () => {
  assert.deepEqual(endedOf({ ...ENDED, output: 'x'.repeat(4_095) }), ['exit code 1', 'x'.repeat(4_095)]);
  assert.deepEqual(endedOf({ ...ENDED, output: 'x'.repeat(4_096) }), ['exit code 1', `${'x'.repeat(4_096)} ...`]);
});
