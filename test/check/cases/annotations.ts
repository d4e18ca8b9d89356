import { asCronJob, deployment, hooked, WEB } from '../workloads.ts';
import type { Cases } from './case.ts';

const PREFIX = 'check.sexton.dev/';
const annotated = (annotations: string, text = deployment(WEB)): string =>
  text.replace('metadata: {name: web}', `metadata: {name: web, annotations: {${annotations}}}`);
const onPod = (annotations: string): string =>
  deployment(WEB).replace('labels: {app: web}}', `labels: {app: web}, annotations: {${annotations}}}`);

const NO_NAMES = [
  ...['stop-second', 'ignored', 'xignore', 'xignore-SX101', 'ignore-sx101', 'ignore-SX101x'],
  ...['drain', 'lb-seconds.web'],
];

export const ANNOTATION_CASES: Cases = {
  SX901: {
    'one rule of an ignore, which still ignores another one': [
      `# sexton-ignore SX101, SX104: known\n${hooked('{sleep: {seconds: 35}}')}`,
      /: SX104 finds nothing here$/,
      false,
    ],
  },
  SX902: {
    'a wrong value at the pod of a workload': [
      onPod(`${PREFIX}lb-seconds: soon`),
      /^warning @- \[check\.sexton\.dev\/lb-seconds\] check\.sexton\.dev\/lb-seconds soon: must be a duration/,
      false,
    ],
    'a wrong value at the pod of a CronJob': [
      asCronJob(onPod(`${PREFIX}prestop-seconds: soon`)),
      /prestop-seconds soon: must be a duration/,
    ],
    'a wrong value that is an alias': [
      annotated(`example.com/a: &soon soon, ${PREFIX}stop-seconds: *soon`),
      /\[check\.sexton\.dev\/stop-seconds\] .*stop-seconds soon: must be/,
    ],
    'a wrong value for one container': [
      annotated(`${PREFIX}stop-seconds.web: soon`),
      /stop-seconds\.web soon: must be/,
    ],
    'a container that the pod does not have': [
      annotated(`${PREFIX}prestop-seconds.wbe: 5`),
      /prestop-seconds\.wbe: this pod has no container wbe; it has web$/,
    ],
    'a container of the init containers': annotated(
      `${PREFIX}stop-seconds.proxy: 5, ${PREFIX}stop-seconds.prepare: 5`,
      deployment(
        WEB,
        'initContainers: [{name: prepare, image: "example.com/p:1"}, {name: proxy, image: "example.com/p:1", restartPolicy: Always}]\n',
      ),
    ),
    'names that are none': [
      annotated(NO_NAMES.map((name) => `${PREFIX}${name}: 5`).join(', ')),
      /stop-second: no such annotation; did you mean stop-seconds\?$/,
      /ignored: no such annotation; did you mean ignore\?$/,
      /xignore: no such annotation; did you mean ignore\?$/,
      /xignore-SX101: no such annotation; write one of stop-seconds, prestop-seconds, lb-seconds, ignore$/,
      /ignore-sx101: names no rule; write one such as ignore-SX301$/,
      /ignore-SX101x: names no rule/,
      /drain: no such annotation; write one of/,
      /lb-seconds\.web: no such annotation; did you mean lb-seconds\?$/,
    ],
    'what can be read, and annotations of others': annotated(
      [
        `${PREFIX}stop-seconds: 5`,
        `${PREFIX}prestop-seconds.web: "1m30s"`,
        `${PREFIX}lb-seconds: "0.5"`,
        `${PREFIX}ignore: SX101`,
        `${PREFIX}ignore-SX102: soon`,
        'example.com/stop-seconds: soon',
        'stop-seconds: soon',
      ].join(', '),
    ),
  },
};
