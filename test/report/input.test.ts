import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { parseYaml } from '../../src/config/file/yaml.ts';
import { readText } from '../../src/report/input.ts';
import type { MemberStop } from '../../src/report/stop.ts';
import { BEGAN_MS, EVIDENCE, FILES, podOf } from './pods.ts';

describe('the sources of a report', () => {
  it('a tombstone tells each phase of the stop with its signal, without gaps', () => {
    const [main] = read(FILES[0] ?? '');
    assert.deepEqual(phases(main), ['run -5000..0', 'drain 0..2000', 'pre-stop 2000..3000', 'stop TERM 3000..4000']);
    assert.equal(main?.deadlineMs, BEGAN_MS + 30_000);
    assert.equal(main?.forcedBy, undefined);
  });

  it('a tombstone tells what ended the command by KILL, and from when on', () => {
    const [proxy] = read(FILES[1] ?? '');
    assert.deepEqual(phases(proxy), ['run -6000..10', 'hold 10..4010', 'stop TERM 4010..6010', 'kill KILL 6010..6500']);
    assert.equal(proxy?.forcedBy, 'sexton');
  });

  it('pods of kubectl get -o json are read by their termination messages and owners', () => {
    const items = [podOf('web-6d4cf56db6-abcde', { main: EVIDENCE }), podOf('x', {})];
    const members = read(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    assert.equal(members.length, 1);
    assertIsMain(members[0]);
    assert.equal(members[0]?.pod, 'shop/web-6d4cf56db6-abcde');
    assert.equal(members[0]?.workload, 'shop/web');
  });

  it('a container that was killed in its stop is read by its unfinished message and the kubelet', () => {
    const main = killedIn('drain', [{ Phase: 'drain', Ms: 0 }]);
    assert.deepEqual(phases(main), ['run -5000..0', 'drain 0..4000']);
    assert.deepEqual([main?.exitCode, main?.forcedBy], [137, 'an unknown sender']);
  });

  it('a container that was killed in its second rung keeps the times of the phases before', () => {
    const rungs = Object.entries({ SIGQUIT: 1_000, SIGTERM: 0 });
    const ladder = rungs.map(([Signal, Ms]) => ({ Phase: 'ladder', Signal, Ms }));
    const main = killedIn('ladder', [{ Phase: 'drain', Ms: 2_100 }, ...ladder]);
    assert.deepEqual(phases(main), ['run -5000..0', 'drain 0..2100', 'stop QUIT 2100..3100', 'stop TERM 3100..4000']);
  });

  it('pods of kubectl get -o yaml are read as well', () => {
    assertIsMain(read(stringify(podOf('web-0', { main: EVIDENCE })))[0]);
  });

  const line = JSON.stringify({ level: 'info', member: 'main', evidence: EVIDENCE, message: 'dead' });
  const WRAPPED: Readonly<Record<string, string>> = {
    'as it is written': line,
    'of Docker': JSON.stringify({ log: `${line}\n`, stream: 'stderr', time: '2026-01-02T03:04:09Z' }),
    'of CRI': `2026-01-02T03:04:09.1Z stderr F ${line}`,
    'of kubectl logs --prefix': `[pod/web-0/main] ${line}`,
    'of journald': JSON.stringify({ MESSAGE: line, _PID: '1' }),
    'of Loki': JSON.stringify({ labels: { pod: 'web-0', namespace: 'shop' }, line, timestamp: '2026-01-02T03:04:09Z' }),
    'of a collector around Docker': `{"message":${JSON.stringify(JSON.stringify({ log: line }))},"kubernetes":{"pod_name":"web-0"}}`,
    'that is the termination message': JSON.stringify(EVIDENCE),
  };
  for (const [how, text] of Object.entries(WRAPPED))
    it(`a line of a log ${how} carries the evidence`, () => {
      const members = read(`something else\n${text}\n{"level":"info"}\n`);
      assert.equal(members.length, 1);
      assertIsMain(members[0]);
      if (text.includes('web-0')) assert.match(members[0]?.pod ?? '', /web-0$/);
    });

  it('a termination log alone carries the evidence, in one line or in several', () => {
    for (const space of [undefined, 2]) assertIsMain(read(JSON.stringify(EVIDENCE, undefined, space))[0]);
  });

  it('a text that has nothing of sexton is passed over', () => {
    const texts = ['', 'x', '[]', '{}', '7', '{"Name":"x"}', '{"Summary":"x","Died":"y"}'];
    for (const text of [...texts, 'kind: Pod\napiVersion: v1\n']) assert.deepEqual(read(text), [], text);
  });
});

function read(text: string): readonly MemberStop[] {
  return readText(text, BEGAN_MS + 60_000, yaml).members;
}

/** What is read of a pod that was killed in that phase of its stop. */
function killedIn(Unfinished: string, Phases: readonly object[]): MemberStop | undefined {
  const { Died, ExitCode, GraceLeftMs, StopMs, ...before } = EVIDENCE;
  return read(JSON.stringify(podOf('web-0', { main: { ...before, Unfinished, Phases } }, 137)))[0];
}

function yaml(text: string): unknown {
  const parsed = parseYaml(text);
  return parsed.ok ? parsed.value : undefined;
}

function phases(member: MemberStop | undefined): readonly string[] {
  return (member?.spans ?? []).map(({ activity, signal, fromMs, untilMs }) => {
    const name = signal === undefined ? activity : `${activity} ${signal}`;
    return `${name} ${fromMs - BEGAN_MS}..${untilMs - BEGAN_MS}`;
  });
}

function assertIsMain(member: MemberStop | undefined): void {
  assert.equal(member?.name, 'main');
  assert.deepEqual(phases(member), ['run -5000..0', 'drain 0..3001', 'stop TERM 3001..4000']);
  assert.equal(member?.deadlineMs, BEGAN_MS + 30_000);
  assert.equal(member?.connections?.New, 312);
}
