/** `sexton report` of an ended pod on a real cluster, from what the API server and the kubelet still have of it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe } from 'node:test';
import { SEXTON } from '../helpers/paths.ts';
import { kubectl } from './helpers/api.ts';
import { clusterTest } from './helpers/case.ts';
import { OBSERVER, podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';
import { namespace } from './helpers/watch.ts';

interface Report {
  readonly pods: readonly {
    readonly pod: string;
    readonly over: boolean;
    readonly forced: readonly string[];
    readonly members: readonly { readonly name: string; readonly exitCode?: number; readonly stopReason?: string }[];
    readonly criticalChain: readonly string[];
  }[];
}

function reportOf(input: string): Report {
  return JSON.parse(execFileSync(SEXTON, ['report', '-', '-o', 'json'], { input, encoding: 'utf8' }));
}

describe('on a cluster', () => {
  clusterTest('sexton report reads an ended pod from kubectl get and from kubectl logs', async (t) => {
    const pod = await startPod(
      t,
      'report',
      podOf({
        members: [
          { name: 'proxy', flags: SIDECAR, does: { term: 400 } },
          { name: 'main', does: { after: '/graveyard/proxy', run: 2_000 } },
        ],
      }),
    );
    assert.equal(await pod.untilEnded(), 'Succeeded');
    const at = ['--namespace', namespace()] as const;
    const sources = {
      json: await kubectl('get', 'pod', pod.name, '-o', 'json', ...at),
      yaml: await kubectl('get', 'pod', pod.name, '-o', 'yaml', ...at),
      logs: await kubectl('logs', pod.name, '--all-containers', '--prefix', ...at),
      timestamps: await kubectl('logs', pod.name, '--all-containers', '--prefix', '--timestamps', ...at),
    };
    for (const [how, text] of Object.entries(sources)) {
      const { pods } = reportOf(text);
      const isRecord = how === 'json' || how === 'yaml';
      assert.equal(pods.length, 1, how);
      const [found] = pods;
      assert.ok(found !== undefined);
      const { pod: name, over, forced, members, criticalChain } = found;
      assert.ok(name.endsWith(pod.name), `${how}: ${name}`);
      assert.deepEqual([over, forced], [true, []], how);
      const told = members.map((member) => [member.name, member.exitCode, member.stopReason]);
      assert.deepEqual(
        told.filter(([member]) => member !== OBSERVER),
        [
          ['main', 0, undefined],
          ['proxy', 0, 'mains finished'],
        ],
        how,
      );
      // It has left no message: only the kubelet's record has it.
      assert.deepEqual(
        told.filter(([member]) => member === OBSERVER),
        isRecord ? [[OBSERVER, 0, undefined]] : [],
        how,
      );
      // It ends after the proxy, perhaps in the same second, and the kubelet cuts its times to seconds.
      const isLast = isRecord && criticalChain[0]?.startsWith(OBSERVER);
      assert.match(
        criticalChain.join('\n'),
        isLast ? /^observer: exit 0/ : /^proxy: TERM .*, after main had ended\nmain: exit 0, ended by itself$/,
        how,
      );
    }
  });
});
