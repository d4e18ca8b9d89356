import { deployment, job, podJson, under, WEB } from '../workloads.ts';
import { type Cases, FOUND, version } from './case.ts';

const UID = '  env:\n    - {name: SEXTON_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}\n';
const mount = (volume = 'graveyard', more = ''): string =>
  `  volumeMounts: [{name: ${volume}, mountPath: /graveyard${more}}]\n`;
const member = (name: string, flags: string, rest = UID + mount()): string =>
  `- name: ${name}\n  image: example.com/${name}:1\n  command: [/sexton/sexton, run, --name, ${name}, ${flags}--restart-policy, Never, --, /bin/server]\n${rest}`;
const VOLUMES = 'volumes: [{name: graveyard, emptyDir: {}}]\n';
const pair = (work: string, proxy: string, volumes = VOLUMES): string => job(work + proxy, volumes);
const claimed = (volume: string): string =>
  deployment(member('work', ''), VOLUMES)
    .replace('kind: Deployment', 'kind: StatefulSet')
    .replace(/^spec:\n/m, `spec:\n  volumeClaimTemplates: [{metadata: {name: ${volume}}}]\n`);
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

const from = (...sources: readonly string[]): string => `  envFrom: [${sources.join(', ')}]\n`;
const settings = (data: string, name = 'settings'): string =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {${data}}\n`;
const SETTINGS = '{configMapRef: {name: settings}}';
const SECRET = '{secretRef: {name: secret}}';
const lonelySidecar = (rest: string): string => under('--role, sidecar', '', rest);
const untold = (rest: string, flags = ''): string =>
  deployment(member('work', flags, UID + mount() + rest).replace('--restart-policy, Never, ', ''), VOLUMES);

export const SEXTON_CASES: Cases = {
  SX800: {
    'a graveyard in a ConfigMap': lonelySidecar(from(SETTINGS)) + settings('SEXTON_GRAVEYARD: /graveyard'),
    'a graveyard that gets its name by a prefix':
      lonelySidecar(from(`{prefix: SEXTON_, ${SETTINGS.slice(1)}`)) + settings('GRAVEYARD: /graveyard'),
    'a ConfigMap whose variables are others by a prefix': [
      lonelySidecar(from(`{prefix: MY_, ${SETTINGS.slice(1)}`)) + settings('SEXTON_GRAVEYARD: /graveyard'),
      /^error /,
    ],
    'a ConfigMap that has no data': [lonelySidecar(from(SETTINGS)) + settings(''), /^error /],
    'a ConfigMap that is not among the inputs': lonelySidecar(from(SETTINGS)),
    'a Secret, which may have a graveyard': lonelySidecar(from(SECRET)),
    'a Secret by whose prefix it may have one': lonelySidecar(from(`{prefix: SEXTON_GRAVE, ${SECRET.slice(1)}`)),
    'a Secret by whose prefix it has no setting': [lonelySidecar(from(`{prefix: DB_, ${SECRET.slice(1)}`)), /^error /],
    'a wrong flag beside a Secret': [under('--darin, 5s', '', from(SECRET)), /^error .*unknown flag/],
    'a wrong value of a flag beside a Secret': [under('--drain, "5"', '', from(SECRET)), /^error .*--drain 5:/],
    'a wrong setting in a ConfigMap': [
      under('--linger, 1s', '', from(SETTINGS)) + settings('SEXTON_DRAIN: "5"'),
      /^error .*SEXTON_DRAIN=5/,
    ],
    'a wrong setting that a later ConfigMap mends':
      under('--linger, 1s', '', from(SETTINGS, '{configMapRef: {name: later}}')) +
      settings('SEXTON_DRAIN: "5"') +
      settings('SEXTON_DRAIN: 5s', 'later'),
    'a wrong setting that a variable of the container mends':
      under('--linger, 1s', '', `${from(SETTINGS)}  env: [{name: SEXTON_DRAIN, value: 5s}]\n`) +
      settings('SEXTON_DRAIN: "5"'),
  },
  SX804: {
    'a policy in a ConfigMap': untold(from(SETTINGS)) + settings('SEXTON_RESTART_POLICY: Always'),
    'another policy in a ConfigMap': [
      untold(from(SETTINGS)) + settings('SEXTON_RESTART_POLICY: OnFailure'),
      /^error .*for OnFailure, and it is Always \(fix\)$/,
    ],
    'a Secret, which may have the policy': untold(from(SECRET)),
    'a ConfigMap that a Secret may beat': untold(from(SETTINGS, SECRET)) + settings('SEXTON_RESTART_POLICY: OnFailure'),
    'a ConfigMap that beats a Secret': [
      untold(from(SECRET, SETTINGS)) + settings('SEXTON_RESTART_POLICY: OnFailure'),
      /^error .*for OnFailure/,
    ],
    'the policy of a lone main that passes nothing on': job(
      '- {name: work, image: "example.com/work:1", command: [/sexton/sexton, run, --restart-policy, Always, --, /report]}',
    ),
    'the policy of a lone main that asks sidecars to leave': [
      job(
        '- {name: work, image: "example.com/work:1", command: [/sexton/sexton, run, --quit, istio, --restart-policy, OnFailure, --, /report]}',
      ),
      /^error .*for OnFailure, and it is Never \(fix\)$/,
      '--restart-policy, Never, --',
    ],
    'a flag that beats a Secret': [untold(from(SECRET), '--restart-policy, OnFailure, '), /^error .*OnFailure/],
  },
  SX801: {
    'a flag whose value is quoted': [under('--grace-period, "60s"'), /^error /, '--grace-period, "30s"'],
    'a flag with an equals sign': [
      under('--grace-period=60s'),
      /^error @30000 \[--grace-period=60s\] /,
      'run, --grace-period=30s, --',
    ],
    'a flag with an equals sign that is quoted': [
      under('"--grace-period=60s"'),
      /^error /,
      'run, "--grace-period=30s", --',
    ],
    'a pod that is killed at once': under('--grace-period, 30s', 'terminationGracePeriodSeconds: 0\n'),
    'a period that is too long': [
      under('--grace-period, 40s'),
      /^error @30000 \[40s\] .*the pod has 30 s \(fix\)$/,
      '--grace-period, 30s,',
    ],
    'a period that is too short': [under('--grace-period, 20s'), /^warning @20000 \[20s\] .*the pod has 30 s \(fix\)$/],
    'a hook that takes its part': [
      under('--grace-period, 30s', '', hook(5)),
      /^error @30000 .*of which the preStop hook takes 5s \(fix\)$/,
    ],
    'a hook that sleeps behind another command': [
      under(
        '--grace-period, 30s',
        '',
        '  lifecycle: {preStop: {exec: {command: [sh, -c, "rm -f /tmp/ready; sleep 25"]}}}\n',
      ),
      /^error .*of which the preStop hook takes 25s/,
      '--grace-period, 5s,',
    ],
    'a hook of an unknown time, behind which every time may be right': under(
      '--grace-period, 10s',
      '',
      '  lifecycle: {preStop: {httpGet: {port: 80}}}\n',
    ),
    'a period from the environment': [
      under('--drain, 1s', '', '  env: [{name: SEXTON_GRACE_PERIOD, value: 40s}]\n'),
      /^error @30000 \[\/sexton\/sexton\] /,
    ],
  },
  SX802: {
    'an environment that comes from somewhere else': pair(
      member('work', ''),
      sidecar('--mains, work, ', `  envFrom: [{configMapRef: {name: session}}]\n${mount()}`),
    ),
    'a ConfigMap among the inputs, which cannot have a uid': [
      pair(member('work', ''), sidecar('--mains, work, ', from(SETTINGS) + mount())) + settings('A: b'),
      /^warning /,
    ],
    'a container that has an environment, which it does not touch': [
      pair(member('work', ''), sidecar('--mains, work, ', `  env: [{name: A, value: b}]\n${mount()}`)),
      /^warning /,
      false,
    ],
    'JSON, which it keeps': [
      podJson(
        {
          command: ['/sexton/sexton', 'run', '--', '/bin/server'],
          volumeMounts: [{ name: 'graveyard', mountPath: '/graveyard' }],
        },
        { volumes: [{ name: 'graveyard', emptyDir: {} }] },
      ),
      /^warning /,
      '{"env": [{"name": "SEXTON_POD_UID", "valueFrom": {"fieldRef": {',
    ],
  },
  SX803: {
    'a container without a graveyard beside two of its name': [
      pair(
        member('work', '') + member('work', ''),
        '- {name: solo, image: "a/b:1", command: [/sexton/sexton, run, --name, work, --, /bin/work]}\n',
      ),
      FOUND,
      FOUND,
    ],
    'a container that is no member': pair(member('work', ''), sidecar('--mains, work, ', '')),
    'a wrong name, where another container may have it': [
      pair(`${member('work', '')}- {name: other, image: "example.com/other:1"}\n`, sidecar('--mains, wrok, ')),
      /^warning @- \[wrok\] /,
    ],
    'a wrong name, where a configuration cannot be seen': [
      pair(
        `${member('work', '')}- {name: other, image: "a/b:1", command: [/sexton/sexton, run, --config, /etc/s.json, --, a]}\n`,
        sidecar('--mains, wrok, '),
      ),
      /^warning @- \[wrok\] /,
    ],
    'a wrong name, where a Secret may have the name of the other': [
      pair(member('work', '', UID + mount() + from(SECRET)).replace('--name, work, ', ''), sidecar()),
      /^warning @- \[work\] /,
    ],
    'a wrong name, where all others are seen': [
      pair(`${member('work', '')}- {name: other, image: "a/b:1", command: [a]}\n`, sidecar('--mains, wrok, ')),
      /^error @- \[wrok\] /,
    ],
    'the name of a container that is no member': [
      pair(member('work', '', ''), sidecar()),
      /^error @- \[work\] proxy: --mains names work/,
    ],
    'a start gate on a name that no member has': [
      pair(member('work', '--start-after, prxy=healthy, '), sidecar()),
      /^error @- \[prxy=healthy\] .*--start-after names prxy/,
    ],
    'a start gate on a member': pair(member('work', '--start-after, proxy=healthy, '), sidecar()),
    'an optional start gate on a name that no member has': pair(
      member('work', '--start-after, "prxy=healthy?", '),
      sidecar(),
    ),
    'two members of one name': [
      pair(member('work', ''), member('proxy', '').replace('--name, proxy', '--name, work')),
      /^error @- \[work\] work: the name work is given to two/,
      /^error @- \[work\] proxy: the name work/,
    ],
  },
  SX805: {
    'a member without a graveyard': pair(member('work', ''), sidecar('--mains, work, ', '')),
    'a mount that cannot be written': [
      pair(member('work', ''), sidecar('--mains, work, ', UID + mount('graveyard', ', readOnly: true'))),
      /^error @- .* proxy: the graveyard \/graveyard is mounted read-only/,
    ],
    'a volume that outlives the pod': [
      pair(member('work', ''), sidecar(), 'volumes: [{hostPath: {path: /var}, name: graveyard}]\n'),
      /work: .*is a hostPath, which outlives/,
      /proxy: .*is a hostPath/,
    ],
    'a volume whose name comes first': [
      pair(member('work', ''), sidecar(), 'volumes: [{name: graveyard, hostPath: {path: /var}}]\n'),
      /work: .*is a hostPath, which outlives/,
      /proxy: .*is a hostPath/,
    ],
    'a volume that is not told': pair(member('work', ''), sidecar(), 'volumes: []\n'),
    'a volume that a StatefulSet claims in the place of an emptyDir': [
      claimed('graveyard'),
      /^error @- .* work: the graveyard \/graveyard is a persistentVolumeClaim, which outlives the pod/,
    ],
    'a volume beside one that a StatefulSet claims': claimed('data'),
    'two volumes': [
      pair(
        member('work', ''),
        sidecar('--mains, work, ', UID + mount('other')),
        'volumes: [{name: graveyard, emptyDir: {}}, {name: other, emptyDir: {}}]\n',
      ),
      /work: .*is not one volume for all members \(graveyard, other\)/,
      /proxy: /,
    ],
    'a graveyard below a mount': pair(
      member('work', '--graveyard, /graveyard/a, '),
      sidecar('--mains, work, --graveyard, /graveyard/a, '),
    ),
    'a graveyard below a mount of all': pair(
      member('work', '--graveyard, /graveyard, ', UID + mount().replace('/graveyard', '/')),
      sidecar('--mains, work, --graveyard, /graveyard, ', UID + mount().replace('/graveyard', '/')),
    ),
    'a graveyard beside a mount of a like name': [
      pair(member('work', '--graveyard, /graveyard2, '), sidecar('--mains, work, --graveyard, /graveyard2, ')),
      /work: .*is on no volume/,
      /proxy: /,
    ],
    'a graveyard beside other mounts': pair(
      member(
        'work',
        '',
        `${UID}  volumeMounts: [{name: other, mountPath: /data}, {name: graveyard, mountPath: /graveyard}]\n`,
      ),
      sidecar(),
      'volumes: [{name: graveyard, emptyDir: {}}, {name: other, emptyDir: {}}]\n',
    ),
    'a container without a graveyard': under('--drain, 5s'),
  },
  SX806: {
    'another program': install('command: [/bin/cp, install, /target]', '64Mi'),
    'another command of sexton': install('command: [/sexton/sexton, status, /target]', '64Mi'),
    'its own image': [
      install('args: [install, /target]', '64Mi', '/target', 'example.com/sexton:1'),
      /^error .*whose sizeLimit is 64Mi/,
    ],
    'another image': install('args: [install, /target]', '64Mi'),
    'another command of its own image': install('args: [status, /target]', '64Mi', '/target', 'example.com/sexton:1'),
    'another program in its own image': install(
      'command: [echo], args: [install, /target]',
      '64Mi',
      '/target',
      'example.com/sexton:1',
    ).replace('command: [echo], ', 'command: [install], '),
    'a volume elsewhere': install(INSTALL, '64Mi', '/data'),
    'a volume of a like name': install('command: [/sexton/sexton, install, /target2]', '64Mi'),
    'a directory of the volume': [install('command: [/sexton/sexton, install, /target/bin]', '64Mi'), /^error /],
    'a volume before a flag': [install('command: [/sexton/sexton, install, /target, --remove-old]', '64Mi'), /^error /],
    'a volume before the value of a flag': [
      install('command: [/sexton/sexton, install, /target, --graveyard, /graveyard]', '64Mi'),
      /^error /,
    ],
    'a small graveyard beside the volume': install(
      'command: [/sexton/sexton, install, /sexton, --graveyard, /target]',
      '64Mi',
    ),
    'an empty command of its own image': [
      install('command: [], args: [install, /target]', '64Mi', '/target', 'example.com/sexton:1'),
      /^error /,
    ],
    'a volume of just its size': install(INSTALL, '85Mi'),
    'a volume of almost its size': [install(INSTALL, '84Mi'), /^error /],
    'a size in powers of ten': [install(INSTALL, '89M'), /^error /],
    'a size in powers of ten that is enough': install(INSTALL, '90M'),
    'a size that is no number': install(INSTALL, 'x1Mi'),
    'a size of a unit that is not known': install(INSTALL, '1MiB'),
    'image volumes in Kubernetes 1.30': [imageVolume, /^error .*this is 1.30/, version('1.30')],
    'a part of an image volume in Kubernetes 1.32': [
      partOfImage,
      /^warning .*feature gate/,
      /^error .*subPath of the image volume sexton needs Kubernetes 1.33, this is 1.32$/,
      version('1.32'),
    ],
    'a part of an image volume in Kubernetes 1.33': [partOfImage, /^warning .*feature gate/, version('1.33')],
    'image volumes in Kubernetes 1.31': [
      imageVolume,
      /^warning .*feature gate ImageVolume on Kubernetes 1.31$/,
      version('1.31'),
    ],
  },
  SX807: {
    'a network of its own': under('--drain, "min=1s,quiet=2s,max=15s"'),
  },
  SX406: {
    'restart rules that sexton was given': pair(
      member('work', '--restart-rules, 42=restart-all, ', UID + mount() + RULE('RestartAllContainers')),
      sidecar(),
    ),
    'restart rules that a Secret may have': pair(
      member('work', '', UID + mount() + from(SECRET) + RULE('Restart')),
      sidecar(),
    ),
    'other rules than sexton was given': [
      pair(member('work', '--restart-rules, 42=restart-all, ', UID + mount() + RULE('Restart')), sidecar()),
      /^error .*\(1 and 1 rules\)/,
    ],
    'a container without other members': deployment(
      `${WEB}  command: [/sexton/sexton, run, --drain, 1s, --, a]\n${RULE('Restart')}`,
    ),
  },
};
