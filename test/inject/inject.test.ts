import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { check } from '../../src/check/check.ts';
import { DELIVERIES } from '../../src/inject/delivery.ts';
import { injected, injectedText, uninjectedText } from './inject.ts';

const HEAD = ['/sexton/sexton', 'run', '--restart-policy', 'Always', '--grace-period', '30s', '--'];

function podOf(containers: string, rest = '', annotations = ''): string {
  const metadata = `metadata:\n  name: p\n  annotations:\n    a: b\n${annotations}`;
  return `apiVersion: v1\nkind: Pod\n${metadata}spec:\n${rest}  containers:\n${containers}`;
}

interface Made {
  readonly name: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string }[];
  readonly volumeMounts: readonly Readonly<Record<string, unknown>>[];
}

async function specOf(text: string, deliver: 'image-volume' | 'init-container' = 'image-volume') {
  const { spec } = parse(await injectedText(text, { deliver }));
  return spec as {
    readonly containers: readonly [Made, ...Made[]];
    readonly initContainers: readonly Record<string, unknown>[];
    readonly volumes: readonly Record<string, unknown>[];
  };
}

const flagsOf = ({ command }: Made): readonly string[] => command.slice(2, command.indexOf('--'));
const ONE = '  - name: a\n    image: busybox\n    command: [sleep, "1"]\n';
const TWO = `${ONE}  - name: b\n    image: istio/proxyv2:1\n    command: [envoy]\n`;

describe('what sexton inject adds', () => {
  const rules = [
    ['command and args', 'command: [x]\n    args: [y]', [...HEAD, 'x'], ['y']],
    ['args alone', 'args: [y]', [...HEAD, '/app', '--home=$$HOME'], ['y']],
    ['neither', 'tty: true', [...HEAD, '/app', '--home=$$HOME', '--serve'], undefined],
    ['command alone', 'command: [x]', [...HEAD, 'x'], undefined],
  ] as const;
  for (const [what, fields, command, args] of rules)
    it(`a container with ${what} runs under sexton what it ran before`, async () => {
      const { containers } = await specOf(podOf(`  - name: a\n    image: app\n    ${fields}\n`));
      assert.deepEqual(containers[0].command, command);
      assert.deepEqual(containers[0].args, args);
    });

  it('a single container gets no graveyard and no uid', async () => {
    const { containers, volumes } = await specOf(podOf(ONE));
    assert.deepEqual(volumes, [
      { name: 'sexton', image: { reference: 'example.com/sexton:1', pullPolicy: 'IfNotPresent' } },
    ]);
    assert.deepEqual(containers[0].volumeMounts, [{ name: 'sexton', mountPath: '/sexton', subPath: 'sexton' }]);
    assert.equal(containers[0].env, undefined);
  });

  it('two containers share a graveyard, and a known sidecar serves the main', async () => {
    const { containers, volumes } = await specOf(podOf(TWO, '  restartPolicy: Never\n'));
    assert.deepEqual(volumes[1], { name: 'graveyard', emptyDir: {} });
    const [main, sidecar] = containers.map(flagsOf);
    assert.deepEqual(main, ['--name', 'a', '--restart-policy', 'Never', '--grace-period', '30s']);
    assert.equal(sidecar?.join(' '), '--name b --role sidecar --restart-policy Never --mains a --grace-period 30s');
    for (const { env, volumeMounts } of containers) {
      assert.equal(env?.[0]?.name, 'SEXTON_POD_UID');
      assert.deepEqual(volumeMounts[1], { name: 'graveyard', mountPath: '/graveyard' });
    }
  });

  it('the init container is one of the level restricted, and stands before all others', async () => {
    const { initContainers, volumes, containers } = await specOf(
      podOf(ONE, '  initContainers:\n  - {name: first, image: x}\n'),
      'init-container',
    );
    const [own, other] = initContainers;
    assert.deepEqual([own?.name, other?.name, own?.args], ['sexton', 'first', ['install', '/target']]);
    const { securityContext } = own ?? {};
    const { allowPrivilegeEscalation, runAsNonRoot } = securityContext as Record<string, unknown>;
    assert.deepEqual([allowPrivilegeEscalation, runAsNonRoot], [false, true]);
    assert.deepEqual(volumes[0], { name: 'sexton', emptyDir: { sizeLimit: '150Mi' } });
    assert.equal(containers[0].volumeMounts[0]?.readOnly, true);
  });

  it('the grace period is less the hook of the kubelet, and a known server gets --stop auto', async () => {
    const hook = '    lifecycle: {preStop: {sleep: {seconds: 10}}}\n';
    const { containers } = await specOf(podOf(`  - name: a\n    image: nginx\n${hook}`));
    assert.equal(
      flagsOf(containers[0]).join(' '),
      '--restart-policy Always --stop auto --grace-period 20s --stop-signals TERM,INT,QUIT',
    );
  });

  it('the grace period is less every sleep of the hook that runs in any case', async () => {
    const hook = '    lifecycle: {preStop: {exec: {command: [sh, -c, "rm -f /tmp/ready; sleep 25"]}}}\n';
    const { containers } = await specOf(podOf(`${ONE}${hook}`));
    assert.equal(flagsOf(containers[0]).join(' '), '--restart-policy Always --grace-period 5s');
  });

  it('restart rules and the policy of a container become flags', async () => {
    const rules = '[{action: Restart, exitCodes: {operator: In, values: [42, 43]}}]';
    const { containers } = await specOf(podOf(`${ONE}    restartPolicy: Never\n    restartPolicyRules: ${rules}\n`));
    assert.match(flagsOf(containers[0]).join(' '), /^--restart-policy Never --restart-rules 42\|43=restart /);
  });

  it('an annotation gives any flag of run, and the one that names the container counts', async () => {
    const annotations = '    inject.sexton.dev/drain: 5s\n    inject.sexton.dev/drain.b: 7s\n';
    const { containers } = await specOf(podOf(TWO, '', annotations));
    assert.deepEqual(
      containers.map(
        (one) =>
          flagsOf(one)
            .join(' ')
            .match(/--drain \S+/)?.[0],
      ),
      ['--drain 5s', '--drain 7s'],
    );
  });

  it('annotations say who is what, and leave containers and pods out', async () => {
    const roles = '    inject.sexton.dev/role.b: main\n    inject.sexton.dev/role.a: skip\n';
    const { containers } = await specOf(podOf(TWO, '  restartPolicy: Never\n', roles));
    assert.deepEqual(containers[0].command, ['sleep', '1']);
    assert.equal(containers[1]?.command.at(-1), 'envoy');
    const off = podOf(ONE, '', '    inject.sexton.dev/inject: disabled\n');
    assert.equal(await injectedText(off), off);
  });

  it('the annotations of a CronJob count, and those of its job and of its pod beat them', async () => {
    const annotated = (...values: readonly string[]): string => {
      const given = (index: number): string =>
        values[index] === undefined ? '' : `metadata: {annotations: {inject.sexton.dev/drain: ${values[index]}}}, `;
      const template = `template: {${given(2)}spec: {containers: [{name: a, command: [x]}]}}`;
      const job = `jobTemplate: {${given(1)}spec: {${template}}}`;
      return `{apiVersion: batch/v1, kind: CronJob, ${given(0)}spec: {${job}}}\n`;
    };
    for (const [values, drain] of [
      [['1s'], '1s'],
      [['1s', '2s'], '2s'],
      [['1s', '2s', '3s'], '3s'],
    ] as const)
      assert.match(await injectedText(annotated(...values)), new RegExp(`--drain, ${drain}`));
  });

  it('a Rollout of Argo and a PodTemplate are injected as a Deployment is', async () => {
    const template = 'template: {spec: {containers: [{name: a, command: [x]}]}}';
    const rollout = `{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r}, spec: {${template}}}\n`;
    const plain = `{apiVersion: v1, kind: PodTemplate, metadata: {name: t}, ${template}}\n`;
    for (const text of [rollout, plain]) {
      const after = await injectedText(text);
      assert.match(after, /command: \[\/sexton\/sexton, run, /);
      assert.equal(await uninjectedText(after), text);
    }
  });

  it('native sidecars and pods that have sexton stay as they are', async () => {
    const native = '  initContainers:\n  - {name: n, image: x, restartPolicy: Always}\n';
    const { initContainers } = await specOf(podOf(ONE, native));
    assert.deepEqual(initContainers, [{ name: 'n', image: 'x', restartPolicy: 'Always' }]);
    const own = podOf('  - {name: a, command: [/sexton/sexton, --, x]}\n');
    assert.equal(await injectedText(own), own);
  });

  it('items of a ResourceList are injected in their place', async () => {
    const item = `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a","command":["x"]}]}}`;
    const list = `apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- ${item}\n`;
    const { items } = parse(await injectedText(list));
    assert.deepEqual(items[0].spec.containers[0].command, [...HEAD, 'x']);
  });

  it('an object that shares only the kind with one of Kubernetes is named', async () => {
    const pod = 'template: {spec: {containers: [{image: app}]}}';
    const text = [
      `{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}, spec: {${pod}}}`,
      `{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: sum}, spec: {tasks: [{${pod}}]}}`,
      `{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, metadata: {name: db}, spec: {${pod}}}\n`,
    ].join('\n---\n');
    const { passedOver, outcomes } = await injected(text);
    assert.deepEqual(
      passedOver.map(({ line, subject, why }) => `${line} ${subject} ${why}`),
      [
        '1 Service/web kind Service of serving.knative.dev/v1: sexton does not know where its pod is',
        '3 Job/sum kind Job of batch.volcano.sh/v1alpha1: sexton does not know where its pod is',
      ],
    );
    assert.deepEqual(
      outcomes.map(({ subject }) => subject),
      ['StatefulSet/db'],
    );
    const { workloads, passedOver: counted } = await check([{ path: 'x.yaml', text }]);
    assert.deepEqual([workloads.length, [...counted.keys()]], [1, ['Service', 'Job']]);
  });

  it('another version replaces what the one before it has injected', async () => {
    const text = podOf(TWO);
    const old = await injectedText(text, { version: '0.0.1', deliver: 'init-container' });
    assert.equal(await injectedText(old), await injectedText(text));
    assert.equal(await uninjectedText(old), text);
  });

  it('what is inserted stands above the comments of the first item, which stay with it', async () => {
    const after = await injectedText(podOf(ONE, '  volumes:\n  # the data\n\n  # of it\n  - name: data\n'));
    assert.match(after, /^ {2}volumes:\n {2}- \{name: sexton, .*\}\n {2}# the data\n\n {2}# of it\n {2}- name: data$/m);
  });

  it('a key that is inserted stands above the comments of the first key, and can be taken out', async () => {
    const text = podOf(ONE).replace('  containers:', '  # sexton-ignore SX107: it is quick\n\n$&');
    const after = await injectedText(text);
    assert.match(after, /^spec:\n {2}volumes: \[.*\]\n {2}# sexton-ignore SX107: it is quick\n\n {2}containers:$/m);
    assert.equal(await uninjectedText(after), text);
  });

  it('a key with nothing behind it is filled, as templates of Helm leave it, and emptied again', async () => {
    const keys = '    command:\n    volumeMounts: # none\n    env:\n      # - name: A\n';
    const text = ['a', 'b'].map((name) => `  - name: ${name}\n    image: app\n${keys}`).join('');
    const whole = podOf(text, '  volumes:\n').replace('    a: b\n', '');
    const more = whole.replace('  volumes:\n', '$&  initContainers:\n');
    for (const deliver of DELIVERIES)
      for (const one of [whole, more, more.replaceAll('\n', '\r\n')]) {
        const after = await injectedText(one, { deliver });
        assert.match(after, /^ {4}volumeMounts: \[\{name: sexton, .*\] # none\r?$/m);
        assert.match(after, /^ {2}annotations: \{inject\.sexton\.dev\/undo: /m);
        assert.equal(await uninjectedText(after), one);
      }
  });

  it('uninject works after edits elsewhere in the file', async () => {
    const after = (await injectedText(podOf(TWO))).replace('name: p\n', 'name: other\n  labels: {a: b}\n');
    const expected = podOf(TWO).replace('name: p\n', 'name: other\n  labels: {a: b}\n');
    assert.equal(await uninjectedText(after), expected);
  });
});

describe('what sexton inject refuses', () => {
  const refusals = [
    [
      'an image that is not in the lock',
      podOf('  - {name: a, image: who}\n'),
      /a: the image who is not in the lock; docker/,
    ],
    ['a container without an image', podOf('  - {name: a}\n'), /it has no image, as in a patch; inject what/],
    [
      'an image that starts nothing',
      podOf('  - {name: a, image: empty}\n'),
      /neither the manifest nor the image has a command/,
    ],
    ['Windows', podOf(ONE, '  os: {name: windows}\n'), /this pod on Windows; leave it out by inject\.sexton\.dev/],
    ['a null that is written out', podOf(ONE, '  volumes: ~\n'), /volumes cannot be edited as it is written/],
    ['hostPID', podOf(ONE, '  hostPID: true\n'), /with hostPID sexton cannot be PID 1; take hostPID out/],
    ['ephemeral containers', podOf(ONE, '  ephemeralContainers: []\n'), /inject the manifest that it was made from/],
    ['a mirror pod', podOf(ONE, '', '    kubernetes.io/config.mirror: x\n'), /inject the file on the node/],
    [
      'a volume name that is taken',
      podOf(ONE, '  volumes: [{name: sexton}]\n'),
      /the volume name sexton is taken; rename/,
    ],
    [
      'a mount path that is taken',
      podOf(`${ONE}    volumeMounts: [{name: x, mountPath: /sexton}]\n`),
      /a mounts something at \/sexton/,
    ],
    [
      'a Job of two mains',
      podOf(`${ONE}  - {name: b, command: [x]}\n`, '  restartPolicy: Never\n'),
      /which of a, b does the work\? Set inject\.sexton\.dev\/role\.b/,
    ],
    [
      'an unknown annotation',
      podOf(ONE, '', '    inject.sexton.dev/drian: 5s\n'),
      /did you mean inject\.sexton\.dev\/drain\?/,
    ],
    [
      'a value that is none',
      podOf(ONE, '', '    inject.sexton.dev/drain: soon\n'),
      /inject\.sexton\.dev\/drain: soon: must be/,
    ],
    [
      'a container that is not there',
      podOf(ONE, '', '    inject.sexton.dev/drain.z: 5s\n'),
      /there is no container z; name one of a/,
    ],
    [
      'flags that do not go together',
      podOf(ONE, '', '    inject.sexton.dev/grace-floor: 50s\n'),
      /a: sexton would refuse its flags: /,
    ],
    [
      'flags that do not go together, beside a variable in the arguments,',
      podOf("  - {name: a, image: app, args: ['$(IP)']}\n", '', '    inject.sexton.dev/grace-floor: 50s\n'),
      /a: sexton would refuse its flags: /,
    ],
    [
      'a switch that names a container',
      podOf(ONE, '', '    inject.sexton.dev/inject.a: disabled\n'),
      /inject\.sexton\.dev\/inject\.a: names a container; write inject\.sexton\.dev\/role\.a: skip/,
    ],
    [
      'one name for all',
      podOf(ONE, '', '    inject.sexton.dev/name: b\n'),
      /inject\.sexton\.dev\/name: no such annotation/,
    ],
    [
      'a digest that the lock has otherwise',
      podOf(`  - {name: a, image: "locked@sha256:${'b'.repeat(64)}"}\n`),
      /is not in the lock/,
    ],
    [
      'a lone container with a graveyard of its own',
      podOf('  - {name: a, command: [x], volumeMounts: [{name: data, mountPath: /graveyard}]}\n'),
      /a mounts something at \/graveyard; mount it elsewhere/,
    ],
    [
      'an alias',
      podOf('  - {name: a, command: &c [x]}\n  - {name: b, command: *c}\n'),
      /containers\/a\/command is an alias, or what an alias/,
    ],
    [
      'a map that others merge',
      podOf('  - &a {name: a, command: [x]}\n  - {<<: *a, name: b}\n'),
      /is an alias, or what an alias or a merge key means/,
    ],
  ] as const;
  for (const [what, text, message] of refusals)
    it(`${what} leaves the pod as it is, with the remedy`, async () => {
      const { changes, outcomes } = await injected(text);
      assert.deepEqual(changes, []);
      assert.match(outcomes[0]?.refusal?.message ?? '', message);
    });

  for (const [stopSignal, flag] of [
    ['15', undefined],
    ['sigterm', undefined],
    ['SIGINT', undefined],
    ['sigusr1', 'TERM,INT,USR1'],
  ] as const)
    it(`the stop signal ${stopSignal} of an image becomes ${flag ?? 'no flag'}`, async () => {
      const images = new Map([['app:latest', { entrypoint: ['/app'], stopSignal }]]);
      const text = await injectedText(podOf('  - {name: a, image: app}\n'), { images });
      assert.equal(/--stop-signals, "?([A-Z0-9,]+)/.exec(text.replaceAll('\n', ' '))?.[1], flag);
    });

  for (const [server, annotations] of [
    ['nginx', ''],
    ['nginx', '    inject.sexton.dev/stop: "QUIT:20s,KILL"\n'],
    ['gunicorn', ''],
  ] as const)
    it(`${server} takes its image's signal for a stop request, with ${annotations === '' ? '--stop auto' : 'a ladder'}`, async () => {
      const images = new Map([['app:latest', { entrypoint: [server], stopSignal: 'SIGQUIT' }]]);
      const text = await injectedText(podOf('  - {name: a, image: app}\n', '', annotations), { images });
      assert.match(text.replaceAll('\n', ' '), /--stop-signals, "?TERM,INT,QUIT/);
    });

  it('an image that differs by platform is injected only where the pod names its platform', async () => {
    const images = new Map([
      ['app:latest', { cmd: ['/amd'], platform: 'linux/amd64', platforms: { 'linux/arm64': { cmd: ['/arm'] } } }],
    ]);
    const textOn = async (selector: string): Promise<string> =>
      injectedText(podOf('  - {name: a, image: app}\n', selector), { images });
    await assert.rejects(textOn(''), /starts something else on linux\/arm64; set nodeSelector kubernetes\.io\/arch/);
    for (const [arch, program] of [
      ['amd64', '/amd'],
      ['arm64', '/arm'],
    ] as const)
      assert.match(await textOn(`  nodeSelector: {kubernetes.io/arch: ${arch}}\n`), new RegExp(`--, ${program}\\]`));
  });

  it('the other pods of a file are injected all the same', async () => {
    const { changes, outcomes } = await injected(`${podOf(ONE)}---\n${podOf('  - {name: a, image: who}\n')}`);
    assert.deepEqual(
      outcomes.map(({ refusal }) => refusal?.isUnresolved),
      [undefined, true],
    );
    assert.match(changes[0]?.text ?? '', /sexton\/sexton.*---.*\{name: a, image: who\}\n$/s);
  });

  it('a refused pod keeps what an earlier version has injected', async () => {
    const old = (await injectedText(podOf(ONE))).replace('spec:\n', 'spec:\n  hostPID: true\n');
    const { changes, outcomes } = await injected(old);
    assert.deepEqual(changes, []);
    assert.match(outcomes[0]?.refusal?.message ?? '', /hostPID/);
  });

  it('uninject refuses what was changed since, and says where', async () => {
    const changed = (await injectedText(podOf(ONE))).replace('30s', '40s');
    await assert.rejects(uninjectedText(changed), /containers\/a\/command\/0 was changed since sexton inject wrote it/);
  });
});
