import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fleetOf } from '../../src/report/fleet.ts';
import { readText } from '../../src/report/input.ts';
import { forcedOf, type PodStop, podsOf } from '../../src/report/stop.ts';
import { at, BEGAN_MS, EVIDENCE, podOf } from './pods.ts';

const line = (evidence: object) => JSON.stringify({ message: 'dead', evidence });
const podsIn = (lines: readonly string[]) =>
  podsOf(readText(lines.join('\n'), BEGAN_MS, () => undefined).members, BEGAN_MS);

const workloadsOf = (pods: readonly PodStop[]) =>
  fleetOf(pods).map(({ workload, pods: count }) => `${workload} ${count}`);

describe('the pods of a log', () => {
  it('a log is split into pods by their names, which also name the workloads', () => {
    const names = ['web-6d4cf56db6-x2x4k', 'web-7f89c5d4-bbbbb', 'db-0', 'db-11', 'agent-zz24k', 'api'];
    const pods = podsIn(names.map((name) => `[pod/${name}/main] ${line(EVIDENCE)}`));
    assert.deepEqual(workloadsOf(pods), ['db 2', 'web 2', 'agent 1', 'api 1']);
  });

  it('a log without names is split into pods by sessions, as one workload', () => {
    const pods = podsIn(['a', 'b', 'a'].map((Session) => line({ ...EVIDENCE, Session })));
    assert.deepEqual(workloadsOf(pods), [' 2']);
  });

  it('a log with neither is split into pods by the births of their members', () => {
    const proxy = { ...EVIDENCE, Name: 'proxy' };
    const pods = podsIn([EVIDENCE, proxy, { ...EVIDENCE, Born: at(-9_000) }, EVIDENCE].map(line));
    const members = pods.map((pod) => pod.members.map(({ name }) => name).sort());
    assert.deepEqual(members.sort(), [['main'], ['main', 'proxy']]);
  });

  it('a pod whose name comes again, with another session or uid, is another pod', () => {
    const day = 86_400_000;
    const first = { ...EVIDENCE, Session: 'uid-1', ForcedBy: 'sexton', ExitCode: 137 };
    const proxy = { ...EVIDENCE, Name: 'proxy' };
    const second = { ...EVIDENCE, Session: 'uid-2', Born: at(day), StopRequested: at(day + 1), Died: at(day + 2) };
    const labels = { pod: 'web-0', namespace: 'shop' };
    const told = (pods: readonly PodStop[]) =>
      pods.map((pod) => [new Set(pod.members.map(({ name }) => name)), forcedOf(pod).length]);
    // The proxy without a session is of the first pod at first, and of the second one behind it.
    const lines = [proxy, first, second, proxy, second].map((one) => JSON.stringify({ labels, line: line(one) }));
    const both = new Set(['main', 'proxy']);
    const twice = [1, 0].map((forced) => [both, forced]);
    assert.deepEqual(told(podsIn(lines)), twice);
    const plain = [first, second].map(({ Session, ...main }) => JSON.stringify(podOf('web-0', { main, proxy })));
    const withUid = plain.map((pod, index) => pod.replace('{"name":"web-0",', `$&"uid":"uid-${index + 1}",`));
    assert.deepEqual(told(podsIn(withUid)), twice);
    assert.deepEqual(told(podsIn([...withUid, ...lines])), twice);
    assert.deepEqual(told(podsIn(plain)), [[both, 0]]);
  });

  it('the pods of a log count a phase in several parts once, in whole milliseconds', () => {
    const Phases = [1_000, 500, 1_500].map((Ms) => ({ Phase: Ms === 500 ? 'drain' : 'hold', Ms }));
    const [all] = fleetOf(podsIn([line({ ...EVIDENCE, Phases, Died: at(3_000).replace('000000Z', '600400Z') })]));
    assert.deepEqual(all?.activities.hold, { p50: 2_501, p95: 2_501, max: 2_501 });
    assert.equal(all?.stop.max, 3_001);
  });

  it('the pods of a log have quantiles of each phase', () => {
    const pods = podsIn(
      Array.from({ length: 100 }, (_, index) => {
        const drainMs = (index + 1) * 10;
        const Phases = [{ Phase: 'drain', Ms: drainMs }].concat({ Phase: 'pre-stop', Ms: 500 });
        return line({ ...EVIDENCE, Session: `s${index}`, Phases, Died: at(drainMs + 500), GraceLeftMs: 5_000 - index });
      }),
    );
    const [all] = fleetOf(pods);
    assert.deepEqual(all?.activities.drain, { p50: 500, p95: 950, max: 1_000 });
    assert.deepEqual(all?.stop, { p50: 1_000, p95: 1_450, max: 1_500 });
    assert.deepEqual([all?.leastLeftMs, all?.forced, all?.late], [4_901, 0, 0]);
  });
});
