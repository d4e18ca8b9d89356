import { deployment } from '../../../src/check/rules/examples.ts';
import { asCronJob, type Case, WEB } from './case.ts';

const PREFIX = 'check.sexton.dev/';
const annotated = (annotations: string, text = deployment(WEB)): string =>
  text.replace('metadata: {name: web}', `metadata: {name: web, annotations: {${annotations}}}`);
const onPod = (annotations: string): string =>
  deployment(WEB).replace('labels: {app: web}}', `labels: {app: web}, annotations: {${annotations}}}`);

export const ANNOTATION_CASES: readonly Case[] = [
  {
    rule: 'SX902',
    what: 'a wrong value at the pod of a workload',
    text: onPod(`${PREFIX}lb-seconds: soon`),
    says: [/^warning @- \[check\.sexton\.dev\/lb-seconds\] check\.sexton\.dev\/lb-seconds soon: must be a duration/],
    fixed: false,
  },
  {
    rule: 'SX902',
    what: 'a wrong value at the pod of a CronJob',
    text: asCronJob(onPod(`${PREFIX}prestop-seconds: soon`)),
    says: [/prestop-seconds soon: must be a duration/],
  },
  {
    rule: 'SX902',
    what: 'a wrong value that is an alias',
    text: annotated(`example.com/a: &soon soon, ${PREFIX}stop-seconds: *soon`),
    says: [/\[check\.sexton\.dev\/stop-seconds\] .*stop-seconds soon: must be/],
  },
  {
    rule: 'SX902',
    what: 'a wrong value for one container',
    text: annotated(`${PREFIX}stop-seconds.web: soon`),
    says: [/stop-seconds\.web soon: must be/],
  },
  {
    rule: 'SX902',
    what: 'a container that the pod does not have',
    text: annotated(`${PREFIX}prestop-seconds.wbe: 5`),
    says: [/prestop-seconds\.wbe: this pod has no container wbe; it has web$/],
  },
  {
    rule: 'SX902',
    what: 'a container of the init containers',
    text: annotated(
      `${PREFIX}stop-seconds.proxy: 5, ${PREFIX}stop-seconds.prepare: 5`,
      deployment(
        WEB,
        'initContainers: [{name: prepare, image: "example.com/p:1"}, {name: proxy, image: "example.com/p:1", restartPolicy: Always}]\n',
      ),
    ),
    says: [],
  },
  {
    rule: 'SX902',
    what: 'names that are none',
    text: annotated(
      ['stop-second', 'ignored', 'xignore', 'xignore-SX101', 'ignore-sx101', 'ignore-SX101x', 'drain', 'lb-seconds.web']
        .map((name) => `${PREFIX}${name}: 5`)
        .join(', '),
    ),
    says: [
      /stop-second: no such annotation; did you mean stop-seconds\?$/,
      /ignored: no such annotation; did you mean ignore\?$/,
      /xignore: no such annotation; did you mean ignore\?$/,
      /xignore-SX101: no such annotation; write one of stop-seconds, prestop-seconds, lb-seconds, ignore$/,
      /ignore-sx101: names no rule; write one such as ignore-SX301$/,
      /ignore-SX101x: names no rule/,
      /drain: no such annotation; write one of/,
      /lb-seconds\.web: no such annotation; did you mean lb-seconds\?$/,
    ],
  },
  {
    rule: 'SX902',
    what: 'what can be read, and annotations of others',
    text: annotated(
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
    says: [],
  },
];
