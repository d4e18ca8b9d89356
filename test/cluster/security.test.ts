/** The pod's security context on a real cluster: members of several users, locked down, on every kind of graveyard. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { clusterTest } from './helpers/case.ts';
import { unlessImageSubPaths, unlessImageVolumes } from './helpers/features.ts';
import { imageNames } from './helpers/images.ts';
import { type MembersSpec, podOf, SIDECAR } from './helpers/members.ts';
import { startPod } from './helpers/pod.ts';

/** The level "restricted" of the Pod Security Standards, and a root that cannot be written. */
const locked = (uid: number) => ({
  securityContext: {
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: uid,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
});

/** A main that is served by its proxy for a while, each with the fields that it is given. */
const pair = (more: { readonly proxy?: object; readonly main?: object } = {}): MembersSpec['members'] => [
  { name: 'proxy', flags: SIDECAR, more: { ...more.proxy } },
  { name: 'main', flags: ['--start-after', 'proxy=started'], does: { run: 300, exit: 4 }, more: { ...more.main } },
];

describe('on a cluster', { concurrency: 5 }, () => {
  for (const [what, spec] of [
    [
      'a user of its own for each container, restricted',
      { members: pair({ proxy: locked(10001), main: locked(10002) }) },
    ],
    [
      'a user of its own for each container, a graveyard in memory, with fsGroup',
      {
        members: pair({ proxy: locked(10001), main: locked(10002) }),
        medium: 'Memory',
        more: { securityContext: { fsGroup: 4000 } },
      },
    ],
    ['shareProcessNamespace: sexton is not PID 1', { members: pair(), more: { shareProcessNamespace: true } }],
    ['hostUsers: false', { members: pair(), more: { hostUsers: false } }],
  ] as const satisfies readonly (readonly [string, MembersSpec])[]) {
    clusterTest(`J04 ${what}: the sidecar ends after the main, and both codes are right`, async (t) => {
      const pod = await startPod(t, 'security', podOf(spec));
      assert.equal(await pod.untilEnded(), 'Failed');
      assert.deepEqual([pod.end('main').exitCode, pod.end('proxy').exitCode], [4, 0]);
      const log = pod.timeline;
      log.startsBefore('proxy', 'main');
      log.exitsBeforeSignalTo('main', 'proxy');
      assert.deepEqual(log.signals('proxy'), [15]);
      assert.deepEqual([pod.tombstone('main')?.ExitCode, pod.tombstone('proxy')?.Reason], [4, 'stopped']);
      assert.equal(pod.message('proxy').StopReason, 'mains finished');
    });
  }
});

describe('on a cluster sexton comes into the pod', { concurrency: 4 }, () => {
  const { sexton, plain } = imageNames();
  const member = (mount: object, program: string) => ({
    name: 'main',
    image: plain,
    imagePullPolicy: 'Never',
    command: [
      program,
      'run',
      '--name',
      'main',
      '--signals',
      'TERM:USR1',
      '--',
      '/member',
      'name=main',
      'log=/dev/stdout',
      'stop=USR1',
      'exit=5',
    ],
    volumeMounts: [{ name: 'sexton', ...mount }],
    ...locked(10002),
  });
  const install = {
    name: 'install',
    image: sexton,
    imagePullPolicy: 'Never',
    args: ['install', '/target'],
    volumeMounts: [{ name: 'sexton', mountPath: '/target' }],
    ...locked(10001),
  };
  const image = { name: 'sexton', image: { reference: sexton, pullPolicy: 'Never' } };
  for (const [way, volumes, initContainers, mount, program, skip] of [
    [
      'an init container',
      [{ name: 'sexton', emptyDir: { sizeLimit: '150Mi' } }],
      [install],
      { mountPath: '/sexton', readOnly: true },
      '/sexton/sexton',
      undefined,
    ],
    ['an image volume', [image], [], { mountPath: '/opt/sexton' }, '/opt/sexton/sexton/sexton', unlessImageVolumes],
    [
      'an image volume with subPath',
      [image],
      [],
      { mountPath: '/sexton', subPath: 'sexton' },
      '/sexton/sexton',
      unlessImageSubPaths,
    ],
  ] as const) {
    const title = `by ${way}: TERM is translated, the code is kept, locked down`;
    const body = async (t: TestContext): Promise<void> => {
      const containers = [member(mount, program)];
      const pod = await startPod(t, 'delivery', { restartPolicy: 'Never', initContainers, containers, volumes });
      await pod.untilStarted('main');
      await pod.delete();
      await pod.untilGone();
      assert.deepEqual([pod.timeline.signals('main'), pod.end('main').exitCode], [[10], 5]);
      assert.equal(pod.message('main').StopReason, 'signal TERM');
      assert.match(pod.log('main'), /"reason":"stopped"/);
    };
    clusterTest(title, body, skip);
  }
});
