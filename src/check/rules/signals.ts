/**
 * SX2: the program does not hear of the stop, or hears the wrong signal.
 */
import { presetNamed } from '../../cli/notation/stop-presets.ts';
import { ladderOf } from '../../core/ladder.ts';
import { SIGTERM, signalName, signalNumber } from '../../core/signals.ts';
import { insertItem, insertKey, replaceValue } from '../edits.ts';
import type { Edit } from '../finding.ts';
import { at, type Located, wordsAt } from '../input/located.ts';
import type { Container, Pod } from '../input/pod.ts';
import { shellOf } from '../stop/images.ts';
import { secondsText } from '../stop/interval.ts';
import { gracefulSignalOf, timeOfAction, wordAt } from '../stop/plan.ts';
import { lastProgramOf, shellCommandOf, sleepMs } from '../stop/shell.ts';
import { hasSleep, isJob, nameOf, placeOf } from './common.ts';
import { deployment } from './examples.ts';
import { missingProgram } from './programs.ts';
import type { Found, Rule } from './rule.ts';

export const SIGNAL_RULES: readonly Rule[] = [
  {
    id: 'SX201',
    severity: 'warning',
    title: 'PID 1 is a shell that does not pass the stop signal on',
    why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL. dash never becomes its last command; busybox does, bash in most forms.',
    remedy: 'Write exec before the last command of the script, or start the program without a shell.',
    language: 'yaml',
    bad: deployment(`- name: web\n  image: debian:12\n  command: [sh, -c, "prepare && server --port 80"]`),
    good: deployment(`- name: web\n  image: debian:12\n  command: [sh, -c, "prepare && exec server --port 80"]`),
    isFixable: true,
    on: 'workload',
    find: ({ workload, view, images }) =>
      view.containers.flatMap(({ container, argv, shell }): Found[] => {
        const script = argv && shellCommandOf(argv);
        if (shell?.mayStay !== true || script === undefined) return [];
        const isDash = script.shell === 'dash' || shellOf(container.image, images) === 'dash';
        const node = wordAt(container, script.index);
        const killMs = view.timeline.containers.find(({ name }) => name === container.name)?.killAt.minMs ?? 0;
        const severity = isJob(workload) || !shell.stays ? 'info' : isDash ? 'error' : 'warning';
        const what = shell.stays
          ? 'stays PID 1 and ignores TERM'
          : 'may stay PID 1 and ignore TERM, which depends on the shell';
        return [
          {
            place: placeOf(workload.pod, node ?? container.node),
            message: `${nameOf(container)}: ${script.shell} -c ${what}: its command is ended by KILL after ${secondsText(killMs)}`,
            severity,
            container: container.name,
            atMs: killMs,
            edits: execBefore(workload.pod, node, script.script),
          },
        ];
      }),
  },
  {
    id: 'SX202',
    severity: 'warning',
    title: 'The program cuts its requests on the signal that it gets',
    why: 'Some servers end at once on TERM and gracefully on another signal. The kubelet sends the STOPSIGNAL of the image, else TERM.',
    remedy: 'Declare the signal: STOPSIGNAL in the image, lifecycle.stopSignal in the pod, or sexton with --stop auto.',
    language: 'yaml',
    bad: deployment('- name: web\n  image: alpine:3.20\n  command: [nginx, -g, daemon off;]'),
    good: deployment('- name: web\n  image: nginx:1.29\n  command: [nginx, -g, daemon off;]'),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap((one): Found[] => {
        const { container, stopSignal, sexton, programArgs, program } = one;
        const graceful = gracefulSignalOf(program, container.image);
        const signal = signalNumber(stopSignal ?? '');
        // TERM to a postgres waits for its clients, INT, which its image declares, ends their sessions: both are meant.
        if (graceful === undefined || signal === undefined || graceful.preset === 'postgres') return [];
        const config = sexton?.run?.member;
        const gets = config === undefined ? signal : (ladderOf(config, signal)[0].signal ?? SIGTERM);
        const warning = presetNamed(graceful.preset).warning?.({
          args: programArgs,
          budgetMs: pod.graceSeconds * 1_000,
        });
        const isWrong = gets !== signalNumber(graceful.signal);
        const isUwsgi = graceful.preset === 'uwsgi' && warning !== undefined;
        if (!isWrong && !isUwsgi) return [];
        return [
          {
            place: placeOf(
              pod,
              at(container.node, 'lifecycle', 'stopSignal') ??
                wordAt(container, 0) ??
                at(container.node, 'image') ??
                container.node,
            ),
            message: isWrong
              ? `${nameOf(container)}: ${program} gets ${signalName(gets)}, on which it cuts its requests; it ends gracefully on SIG${graceful.signal}`
              : `${nameOf(container)}: ${warning}`,
            container: container.name,
            atMs: view.timeline.containers.find(({ name }) => name === container.name)?.told.minMs ?? 0,
          },
        ];
      }),
  },
  {
    id: 'SX203',
    severity: 'error',
    title: 'A stopSignal that the API server refuses',
    why: 'lifecycle.stopSignal needs spec.os.name and a name that begins with SIG; on Windows only SIGTERM and SIGKILL are allowed.',
    remedy: 'Write os: {name: linux} in the spec of the pod, and the whole name of the signal.',
    language: 'yaml',
    bad: deployment('- name: web\n  image: example.com/web:1\n  lifecycle: {stopSignal: SIGQUIT}'),
    good: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle: {stopSignal: SIGQUIT}',
      'os: {name: linux}\n',
    ),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod } }) =>
      pod.containers.flatMap((container): Found[] => {
        const { stopSignal } = container;
        const node = at(container.node, 'lifecycle', 'stopSignal');
        if (stopSignal === undefined || node === undefined) return [];
        const common = { place: placeOf(pod, node), container: container.name };
        const what = `${nameOf(container)}: stopSignal ${stopSignal}`;
        if (pod.os === 'linux') {
          const number = signalNumber(stopSignal);
          if (number === undefined) return [{ ...common, message: `${what} is no signal` }];
          if (stopSignal.startsWith('SIG')) return [];
          const name = signalName(number);
          const message = `${what} is refused by the API server, which wants ${name}`;
          return [{ ...common, message, edits: [replaceValue(pod.source, node, name)] }];
        }
        if (pod.os === 'windows' && /^SIG(TERM|KILL)$/.test(stopSignal)) return [];
        const message = `${what} ${pod.os === undefined ? 'without spec.os.name' : `on ${pod.os}`} is refused by the API server`;
        return [{ ...common, message, edits: insertKey(pod.source, pod.spec, 'os', '{name: linux}') }];
      }),
  },
  {
    id: 'SX204',
    severity: 'warning',
    title: 'stopSignal on a cluster that may not know it',
    why: 'lifecycle.stopSignal is alpha from Kubernetes 1.33 on and off by default before 1.37: the field is dropped without a word, and the program gets the signal of its image.',
    remedy: 'Set STOPSIGNAL in the image as well, or switch the feature gate ContainerStopSignals on.',
    language: 'yaml',
    flags: ['--kubernetes-version', '1.35'],
    bad: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle: {stopSignal: SIGQUIT}',
      'os: {name: linux}\n',
    ),
    good: deployment('- name: web\n  image: example.com/web:1', 'os: {name: linux}\n'),
    on: 'workload',
    find: ({ workload: { pod }, minor }) => {
      if (minor === undefined || minor >= 37) return [];
      return pod.containers.flatMap((container): Found[] => {
        const node = at(container.node, 'lifecycle', 'stopSignal');
        if (node === undefined) return [];
        return [
          {
            place: placeOf(pod, node),
            message: `${nameOf(container)}: stopSignal has no effect on Kubernetes 1.${minor} unless the gate ContainerStopSignals is on`,
            container: container.name,
          },
        ];
      });
    },
  },
  {
    id: 'SX205',
    severity: 'error',
    title: 'The stop signal of the image is no stop request for sexton',
    why: 'The kubelet sends the STOPSIGNAL of the image. sexton passes a signal that is none of its --stop-signals on as any other: there is no drain, no order and no ladder.',
    remedy: 'Add the signal to --stop-signals, or let --stop auto do so.',
    language: 'yaml',
    bad: deployment(
      `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, run, --drain, 5s, --, nginx, -g, daemon off;]`,
    ),
    good: deployment(
      `- name: web\n  image: nginx:1.29\n  command: [/sexton/sexton, run, --stop, auto, --drain, 5s, --, nginx, -g, daemon off;]`,
    ),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, sexton, stopSignal }): Found[] => {
        const config = sexton?.run?.member;
        const signal = signalNumber(stopSignal ?? '');
        if (config === undefined || signal === undefined || config.stopSignals.includes(signal)) return [];
        const name = signalName(signal);
        const all = [...config.stopSignals.map(signalName), name].map((one) => one.slice('SIG'.length));
        return [
          {
            place: placeOf(pod, wordAt(container, 0) ?? container.node),
            message: `${nameOf(container)}: the platform sends ${name}, which is no stop request for sexton; its drain and order are skipped`,
            container: container.name,
            atMs: 0,
            edits: withFlag(pod, container, '--stop-signals', all.join(',')),
          },
        ];
      }),
  },
  {
    id: 'SX206',
    severity: 'info',
    title: 'A package manager is PID 1',
    why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
    remedy: 'Start the program itself: node server.js in place of npm start.',
    language: 'yaml',
    bad: deployment('- {name: web, image: "example.com/web:1", command: [npm, start]}'),
    good: deployment('- {name: web, image: "example.com/web:1", command: [node, server.js]}'),
    on: 'workload',
    find: ({ workload, view }) =>
      view.containers.flatMap(({ container, program, sexton }): Found[] => {
        if (sexton !== undefined || program === undefined || !/^(npm|yarn|pnpm)$/.test(program)) return [];
        return [
          {
            place: placeOf(workload.pod, wordAt(container, 0) ?? container.node),
            message: `${nameOf(container)}: ${program} is PID 1 and starts the program by a shell`,
            container: container.name,
          },
        ];
      }),
  },
  {
    id: 'SX207',
    severity: 'error',
    title: 'A hook or probe runs a program that the image does not have',
    why: 'An image without a shell has no sh and no sleep, many have no bash and no curl. The hook fails at once (FailedPreStopHook), and TERM comes without the wait that was meant.',
    remedy: 'Use sleep: {seconds: N} of Kubernetes 1.30, an httpGet, or an image with a shell.',
    language: 'yaml',
    bad: deployment(
      '- name: web\n  image: gcr.io/distroless/static-debian12\n  lifecycle:\n    preStop: {exec: {command: [sleep, "5"]}}',
    ),
    good: deployment(
      '- name: web\n  image: gcr.io/distroless/static-debian12\n  lifecycle:\n    preStop: {sleep: {seconds: 5}}',
    ),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, minor, images }) =>
      pod.containers.flatMap((container) =>
        [
          ['lifecycle', 'preStop'],
          ['lifecycle', 'postStart'],
          ['livenessProbe'],
          ['readinessProbe'],
          ['startupProbe'],
        ].flatMap((path): Found[] => {
          const node = at(container.node, ...path);
          const words = wordsAt(node, 'exec', 'command');
          const program = missingProgram(words ?? [], container.image, images);
          if (node === undefined || program === undefined) return [];
          return [
            {
              place: placeOf(pod, node),
              message: `${nameOf(container)}: ${path.at(-1)} runs ${program}, which ${container.image} does not have`,
              container: container.name,
              atMs: 0,
              edits: path[1] === 'preStop' && hasSleep(minor) ? sleepInstead(pod, container) : [],
            },
          ];
        }),
      ),
  },
  {
    id: 'SX208',
    severity: 'warning',
    title: 'A preStop hook starts the stop itself and does not wait for its end',
    why: 'When the hook has returned the kubelet sends TERM at once, and the graceful stop that the hook began becomes a fast one.',
    remedy:
      'Let the hook wait until the program has ended, or declare the graceful signal as the stop signal in place of the hook.',
    language: 'yaml',
    bad: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle:\n    preStop: {exec: {command: [nginx, -s, quit]}}',
    ),
    good: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle:\n    preStop: {exec: {command: [sh, -c, "nginx -s quit; sleep 20"]}}',
    ),
    on: 'workload',
    find: ({ workload: { pod }, view }) =>
      view.containers.flatMap(({ container, stopSignal }): Found[] => {
        const { preStop } = container;
        if (preStop?.action.kind !== 'exec') return [];
        const text = preStop.action.argv.join(' ');
        const waits = /(^|[;&|\s])(wait|while|until|tail)(\s|$)/.test(text) || /sleep\s+\S+\s*;?\s*$/.test(text);
        // Where the platform then sends the same signal it changes nothing.
        if (waits || !STOPS.test(text) || stopSignal === 'SIGQUIT') return [];
        return [
          {
            place: placeOf(pod, preStop.node),
            message: `${nameOf(container)}: the hook asks the program to stop and returns; TERM comes at once and cuts what is under way`,
            container: container.name,
            atMs: 0,
          },
        ];
      }),
  },
  {
    id: 'SX209',
    severity: 'warning',
    title: 'kill 1 in a pod that shares its process namespace',
    why: 'With shareProcessNamespace PID 1 is the pause container: signals to it do not reach the program.',
    remedy: 'Signal the program by its name (pkill), or do not share the process namespace.',
    language: 'yaml',
    bad: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle:\n    preStop: {exec: {command: [kill, -QUIT, "1"]}}',
      'shareProcessNamespace: true\n',
    ),
    good: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle:\n    preStop: {exec: {command: [kill, -QUIT, "1"]}}',
    ).replace('kill, -QUIT, "1"', 'sh, -c, "kill -QUIT 1; sleep 20"'),
    on: 'workload',
    find: ({ workload: { pod } }) => {
      if (!pod.sharesProcesses) return [];
      return pod.containers.flatMap((container): Found[] => {
        const { preStop } = container;
        if (preStop?.action.kind !== 'exec') return [];
        if (!/(^|[;&|\s])kill\s+(-\S+\s+)*1(\s|;|&|$)/.test(preStop.action.argv.join(' '))) return [];
        return [
          {
            place: placeOf(pod, preStop.node),
            message: `${nameOf(container)}: PID 1 is the pause container here, so kill 1 does not reach the program`,
            container: container.name,
            atMs: 0,
          },
        ];
      });
    },
  },
  {
    id: 'SX210',
    severity: 'info',
    title: 'A hook runs sleep where the kubelet can wait itself',
    why: 'From Kubernetes 1.30 on preStop has sleep, which needs no program in the image and no process in the container.',
    remedy: 'Write sleep: {seconds: N}.',
    language: 'yaml',
    bad: deployment(
      '- name: web\n  image: example.com/web:1\n  lifecycle:\n    preStop: {exec: {command: [sleep, "5"]}}',
    ),
    good: deployment('- name: web\n  image: example.com/web:1\n  lifecycle:\n    preStop: {sleep: {seconds: 5}}'),
    isFixable: true,
    on: 'workload',
    find: ({ workload: { pod }, minor, images }) => {
      if (!hasSleep(minor)) return [];
      return pod.containers.flatMap((container): Found[] => {
        const { preStop } = container;
        if (preStop === undefined || sleepSeconds(container) === undefined) return [];
        // SX207 says more.
        if (shellOf(container.image, images) === 'none') return [];
        return [
          {
            place: placeOf(pod, preStop.node),
            message: `${nameOf(container)}: the hook only sleeps; sleep: {seconds: ${sleepSeconds(container)}} needs nothing of the image`,
            container: container.name,
            edits: sleepInstead(pod, container),
          },
        ];
      });
    },
  },
];

/** Orders to stop that return before the program has ended. */
const STOPS =
  /nginx\s+-s\s+quit|(apache2?ctl|httpd\s+-k)\s+(-k\s+)?graceful-stop|(^|[;&|\s])kill\s+(-s\s+\S+|-\S+)\s+1(\s|;|&|$)/;

/** The seconds that a hook does nothing but sleep; undefined: it does something else. */
function sleepSeconds({ preStop }: Container): number | undefined {
  if (preStop?.action.kind !== 'exec') return undefined;
  const { argv } = preStop.action;
  const isPlain = sleepMs(argv) !== undefined || /^\s*\S*sleep\s+\S+\s*;?\s*$/.test(shellCommandOf(argv)?.script ?? '');
  const { minMs } = timeOfAction(preStop);
  return isPlain && minMs % 1_000 === 0 && minMs > 0 ? minMs / 1_000 : undefined;
}

function sleepInstead(pod: Pod, container: Container): readonly Edit[] {
  const seconds = sleepSeconds(container);
  const action = container.preStop?.node;
  const entry = action?.kind === 'map' ? action.entries.get('exec') : undefined;
  if (seconds === undefined || entry === undefined) return [];
  const isJson = pod.source.text[entry.key.start] === '"';
  const inner = isJson ? `{"seconds": ${seconds}}` : `{seconds: ${seconds}}`;
  // A comment within would be lost.
  if (/(^|\s)#/.test(pod.source.text.slice(entry.value.start, entry.value.end).trimEnd())) return [];
  return [
    { source: pod.source, ...entry.key, text: isJson ? '"sleep"' : 'sleep' },
    replaceValue(pod.source, entry.value, inner),
  ];
}

/** `exec` in front of the last command, where the script stands on one line and its last command is plain. */
function execBefore(pod: Pod, node: Located | undefined, script: string): readonly Edit[] {
  if (node?.kind !== 'scalar') return [];
  const tail = lastProgramOf(script);
  if (tail === undefined) return [];
  const { source } = pod;
  const body = source.text.slice(node.start, node.end).trimEnd().replace(/["']$/, '');
  // Escapes and folds of YAML: then the text of the source is not that of the script.
  if (!body.endsWith(tail)) return [];
  const at = node.start + body.length - tail.length;
  return [{ source, start: at, end: at, text: 'exec ' }];
}

/** A flag of sexton right behind `run`, or its value where it is given. */
export function withFlag(pod: Pod, container: Container, flag: string, value: string): readonly Edit[] {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  const end = words.indexOf('--');
  const own = words.slice(0, end === -1 ? words.length : end);
  const given = own.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (given !== -1) {
    const isJoined = words[given]?.includes('=') === true;
    const node = wordAt(container, isJoined ? given : given + 1);
    if (node === undefined) return [];
    const text = isJoined ? `${flag}=${value}` : value;
    return [replaceValue(pod.source, node, /^[-A-Za-z0-9_./=+]+$/.test(text) ? text : JSON.stringify(text))];
  }
  const list = at(container.node, 'command');
  const index = words[1] === 'run' ? 2 : 1;
  return list?.kind === 'list' ? insertItem(pod.source, list, index, `${flag}=${value}`) : [];
}
