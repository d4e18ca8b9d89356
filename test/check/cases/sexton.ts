import { deployment, job } from '../../../src/check/rules/examples.ts';
import { type Case, under, WEB } from './case.ts';

const UID = '  env:\n    - {name: SEXTON_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}\n';
const mount = (volume = 'graveyard', more = ''): string =>
  `  volumeMounts: [{name: ${volume}, mountPath: /graveyard${more}}]\n`;
const member = (name: string, flags: string, rest = UID + mount()): string =>
  `- name: ${name}\n  image: example.com/${name}:1\n  command: [/sexton/sexton, run, --name, ${name}, ${flags}--restart-policy, Never, --, /bin/server]\n${rest}`;
const VOLUMES = 'volumes: [{name: graveyard, emptyDir: {}}]\n';
const pair = (work: string, proxy: string, volumes = VOLUMES): string => job(work + proxy, volumes);
const sidecar = (flags = '--mains, work, ', rest?: string): string =>
  member('proxy', `--role, sidecar, ${flags}`, rest);
const hook = (seconds: number): string => `  lifecycle: {preStop: {sleep: {seconds: ${seconds}}}}\n`;
const install = (command: string, limit: string, path = '/target', image = 'example.com/a:1'): string =>
  deployment(
    '- {name: web, image: "example.com/web:1"}',
    `volumes: [{name: sexton, emptyDir: {sizeLimit: ${limit}}}]\ninitContainers:\n  - {name: install, image: "${image}", ${command}, volumeMounts: [{name: sexton, mountPath: ${path}}]}\n`,
  );
const INSTALL = 'command: [/sexton/sexton, install, /target]';
const RULE = (action: string): string =>
  `  restartPolicy: Never\n  restartPolicyRules: [{action: ${action}, exitCodes: {operator: In, values: [42]}}]\n`;
const imageVolume = deployment(
  '- {name: web, image: "example.com/web:1"}',
  'volumes: [{name: sexton, image: {reference: "example.com/sexton:1"}}]\n',
);

const partOfImage = deployment(
  '- {name: web, image: "example.com/web:1", volumeMounts: [{name: data, mountPath: /a, subPath: a}, {name: sexton, mountPath: /b, subPath: b}]}',
  'volumes: [{name: data, emptyDir: {}}, {name: sexton, image: {reference: "example.com/sexton:1"}}]\n',
);

export const SEXTON_CASES: readonly Case[] = [
  {
    rule: 'SX801',
    what: 'a pod that is killed at once',
    text: under('--grace-period, 30s', 'terminationGracePeriodSeconds: 0\n'),
    says: [],
  },
  {
    rule: 'SX801',
    what: 'a period that is too long',
    text: under('--grace-period, 40s'),
    says: [/^error @30000 \[40s\] .*the pod has 30 s \(fix\)$/],
  },
  {
    rule: 'SX801',
    what: 'a period that is too short',
    text: under('--grace-period, 20s'),
    says: [/^warning @20000 \[20s\] .*the pod has 30 s \(fix\)$/],
  },
  {
    rule: 'SX801',
    what: 'a hook that takes its part',
    text: under('--grace-period, 30s', '', hook(5)),
    says: [/^error @30000 .*of which the preStop hook takes 5s \(fix\)$/],
  },
  {
    rule: 'SX801',
    what: 'a hook of an unknown time, behind which every time may be right',
    text: under('--grace-period, 10s', '', '  lifecycle: {preStop: {httpGet: {port: 80}}}\n'),
    says: [],
  },
  {
    rule: 'SX801',
    what: 'a period given with an equals sign',
    text: under('--name=web, --grace-period=40s'),
    says: [/^error @30000 \[--grace-period=40s\] /],
  },
  {
    rule: 'SX801',
    what: 'a period from the environment',
    text: under('--drain, 1s', '', '  env: [{name: SEXTON_GRACE_PERIOD, value: 40s}]\n'),
    says: [/^error @30000 \[\/sexton\/sexton\] /],
  },
  {
    rule: 'SX802',
    what: 'an environment that comes from somewhere else',
    text: pair(
      member('work', ''),
      sidecar('--mains, work, ', `  envFrom: [{configMapRef: {name: session}}]\n${mount()}`),
    ),
    says: [],
  },
  {
    rule: 'SX802',
    what: 'a container that has an environment, which it does not touch',
    text: pair(member('work', ''), sidecar('--mains, work, ', `  env: [{name: A, value: b}]\n${mount()}`)),
    says: [/^warning /],
    fixed: false,
  },
  {
    rule: 'SX802',
    what: 'JSON, which it keeps',
    text: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'a/b:1',
            command: ['/sexton/sexton', 'run', '--', '/bin/server'],
            volumeMounts: [{ name: 'graveyard', mountPath: '/graveyard' }],
          },
        ],
        volumes: [{ name: 'graveyard', emptyDir: {} }],
      },
    }),
    says: [/^warning /],
    fixed: '{"env": [{"name": "SEXTON_POD_UID", "valueFrom": {"fieldRef": {',
  },
  {
    rule: 'SX803',
    what: 'a container that is no member',
    text: pair(member('work', ''), sidecar('--mains, work, ', '')),
    says: [],
  },
  {
    rule: 'SX803',
    what: 'a wrong name, where another container may have it',
    text: pair(`${member('work', '')}- {name: other, image: "example.com/other:1"}\n`, sidecar('--mains, wrok, ')),
    says: [/^warning @- \[wrok\] /],
  },
  {
    rule: 'SX803',
    what: 'a wrong name, where a configuration cannot be seen',
    text: pair(
      `${member('work', '')}- {name: other, image: "a/b:1", command: [/sexton/sexton, run, --config, /etc/s.json, --, a]}\n`,
      sidecar('--mains, wrok, '),
    ),
    says: [/^warning @- \[wrok\] /],
  },
  {
    rule: 'SX803',
    what: 'a wrong name, where all others are seen',
    text: pair(`${member('work', '')}- {name: other, image: "a/b:1", command: [a]}\n`, sidecar('--mains, wrok, ')),
    says: [/^error @- \[wrok\] /],
  },
  {
    rule: 'SX803',
    what: 'the name of a container that is no member',
    text: pair(member('work', '', ''), sidecar()),
    says: [/^error @- \[work\] proxy: --mains names work/],
  },
  {
    rule: 'SX803',
    what: 'a start gate on nobody',
    text: pair(member('work', '--start-after, prxy=healthy, '), sidecar()),
    says: [/^error @- \[prxy=healthy\] .*--start-after names prxy/],
  },
  {
    rule: 'SX803',
    what: 'a start gate on a member',
    text: pair(member('work', '--start-after, proxy=healthy, '), sidecar()),
    says: [],
  },
  {
    rule: 'SX803',
    what: 'a start gate that may be on nobody',
    text: pair(member('work', '--start-after, "prxy=healthy?", '), sidecar()),
    says: [],
  },
  {
    rule: 'SX803',
    what: 'two members of one name',
    text: pair(member('work', ''), member('proxy', '').replace('--name, proxy', '--name, work')),
    says: [/^error @- \[work\] work: the name work is given to two/, /^error @- \[work\] proxy: the name work/],
  },
  {
    rule: 'SX805',
    what: 'a member without a graveyard',
    text: pair(member('work', ''), sidecar('--mains, work, ', '')),
    says: [],
  },
  {
    rule: 'SX805',
    what: 'a mount that cannot be written',
    text: pair(member('work', ''), sidecar('--mains, work, ', UID + mount('graveyard', ', readOnly: true'))),
    says: [/^error @- .* proxy: the graveyard \/graveyard is mounted read-only/],
  },
  {
    rule: 'SX805',
    what: 'a volume that outlives the pod',
    text: pair(member('work', ''), sidecar(), 'volumes: [{hostPath: {path: /var}, name: graveyard}]\n'),
    says: [/work: .*is a hostPath, which outlives/, /proxy: .*is a hostPath/],
  },
  {
    rule: 'SX805',
    what: 'a volume whose name comes first',
    text: pair(member('work', ''), sidecar(), 'volumes: [{name: graveyard, hostPath: {path: /var}}]\n'),
    says: [/work: .*is a hostPath, which outlives/, /proxy: .*is a hostPath/],
  },
  {
    rule: 'SX805',
    what: 'a volume that is not told',
    text: pair(member('work', ''), sidecar(), 'volumes: []\n'),
    says: [],
  },
  {
    rule: 'SX805',
    what: 'two volumes',
    text: pair(
      member('work', ''),
      sidecar('--mains, work, ', UID + mount('other')),
      'volumes: [{name: graveyard, emptyDir: {}}, {name: other, emptyDir: {}}]\n',
    ),
    says: [/work: .*is not one volume for all members \(graveyard, other\)/, /proxy: /],
  },
  {
    rule: 'SX805',
    what: 'a graveyard below a mount',
    text: pair(
      member('work', '--graveyard, /graveyard/a, ').replaceAll('mountPath: /graveyard', 'mountPath: /graveyard'),
      sidecar('--mains, work, --graveyard, /graveyard/a, '),
    ),
    says: [],
  },
  {
    rule: 'SX805',
    what: 'a graveyard below a mount of all',
    text: pair(
      member('work', '--graveyard, /graveyard, ', UID + mount().replace('/graveyard', '/')),
      sidecar('--mains, work, --graveyard, /graveyard, ', UID + mount().replace('/graveyard', '/')),
    ),
    says: [],
  },
  {
    rule: 'SX805',
    what: 'a graveyard beside a mount of a like name',
    text: pair(member('work', '--graveyard, /graveyard2, '), sidecar('--mains, work, --graveyard, /graveyard2, ')),
    says: [/work: .*is on no volume/, /proxy: /],
  },
  {
    rule: 'SX805',
    what: 'a graveyard beside other mounts',
    text: pair(
      member(
        'work',
        '',
        `${UID}  volumeMounts: [{name: other, mountPath: /data}, {name: graveyard, mountPath: /graveyard}]\n`,
      ),
      sidecar(),
      'volumes: [{name: graveyard, emptyDir: {}}, {name: other, emptyDir: {}}]\n',
    ),
    says: [],
  },
  { rule: 'SX805', what: 'a container without a graveyard', text: under('--drain, 5s'), says: [] },
  { rule: 'SX806', what: 'another program', text: install('command: [/bin/cp, install, /target]', '64Mi'), says: [] },
  {
    rule: 'SX806',
    what: 'another command of sexton',
    text: install('command: [/sexton/sexton, status, /target]', '64Mi'),
    says: [],
  },
  {
    rule: 'SX806',
    what: 'its own image',
    text: install('args: [install, /target]', '64Mi', '/target', 'example.com/sexton:1'),
    says: [/^error .*whose sizeLimit is 64Mi/],
  },
  { rule: 'SX806', what: 'another image', text: install('args: [install, /target]', '64Mi'), says: [] },
  {
    rule: 'SX806',
    what: 'another command of its own image',
    text: install('args: [status, /target]', '64Mi', '/target', 'example.com/sexton:1'),
    says: [],
  },
  {
    rule: 'SX806',
    what: 'another program in its own image',
    text: install('command: [echo], args: [install, /target]', '64Mi', '/target', 'example.com/sexton:1').replace(
      'command: [echo], ',
      'command: [install], ',
    ),
    says: [],
  },
  { rule: 'SX806', what: 'a volume elsewhere', text: install(INSTALL, '64Mi', '/data'), says: [] },
  {
    rule: 'SX806',
    what: 'a volume of a like name',
    text: install('command: [/sexton/sexton, install, /target2]', '64Mi'),
    says: [],
  },
  {
    rule: 'SX806',
    what: 'a directory of the volume',
    text: install('command: [/sexton/sexton, install, /target/bin]', '64Mi'),
    says: [/^error /],
  },
  { rule: 'SX806', what: 'a volume of just its size', text: install(INSTALL, '85Mi'), says: [] },
  { rule: 'SX806', what: 'a volume of almost its size', text: install(INSTALL, '84Mi'), says: [/^error /] },
  { rule: 'SX806', what: 'a size in powers of ten', text: install(INSTALL, '89M'), says: [/^error /] },
  { rule: 'SX806', what: 'a size in powers of ten that is enough', text: install(INSTALL, '90M'), says: [] },
  { rule: 'SX806', what: 'a size that is no number', text: install(INSTALL, 'x1Mi'), says: [] },
  { rule: 'SX806', what: 'a size of a unit that is not known', text: install(INSTALL, '1MiB'), says: [] },
  {
    rule: 'SX806',
    what: 'image volumes in Kubernetes 1.30',
    text: imageVolume,
    flags: ['--kubernetes-version', '1.30'],
    says: [/^error .*this is 1.30/],
  },
  {
    rule: 'SX806',
    what: 'a part of an image volume in Kubernetes 1.32',
    text: partOfImage,
    flags: ['--kubernetes-version', '1.32'],
    says: [
      /^warning .*feature gate/,
      /^error .*subPath of the image volume sexton needs Kubernetes 1.33, this is 1.32$/,
    ],
  },
  {
    rule: 'SX806',
    what: 'a part of an image volume in Kubernetes 1.33',
    text: partOfImage,
    flags: ['--kubernetes-version', '1.33'],
    says: [/^warning .*feature gate/],
  },
  {
    rule: 'SX806',
    what: 'image volumes in Kubernetes 1.31',
    text: imageVolume,
    flags: ['--kubernetes-version', '1.31'],
    says: [/^warning .*feature gate ImageVolume on Kubernetes 1.31$/],
  },
  { rule: 'SX807', what: 'a network of its own', text: under('--drain, "min=1s,quiet=2s,max=15s"'), says: [] },
  {
    rule: 'SX406',
    what: 'rules of all containers that sexton was told',
    text: pair(
      member('work', '--restart-rules, 42=restart-all, ', UID + mount() + RULE('RestartAllContainers')),
      sidecar(),
    ),
    says: [],
  },
  {
    rule: 'SX406',
    what: 'other rules than sexton was told',
    text: pair(member('work', '--restart-rules, 42=restart-all, ', UID + mount() + RULE('Restart')), sidecar()),
    says: [/^error .*\(1 and 1 rules\)/],
  },
  {
    rule: 'SX406',
    what: 'a container without other members',
    text: deployment(`${WEB}  command: [/sexton/sexton, run, --drain, 1s, --, a]\n${RULE('Restart')}`),
    says: [],
  },
];
