/**
 * SX207 to SX210: what hooks run, and what that does to the stop; SX207 looks at probes, too.
 */
import { replaceValue } from '../edits.ts';
import type { Edit } from '../finding.ts';
import { at, wordsAt } from '../input/located.ts';
import type { Container, Pod } from '../input/pod.ts';
import { shellOf } from '../stop/images.ts';
import { timeOfAction } from '../stop/plan.ts';
import { shellCommandOf, sleepMs } from '../stop/shell.ts';
import { hasSleep, nameOf, placeOf } from './common.ts';
import { deployment } from './examples.ts';
import { missingProgram } from './programs.ts';
import type { Found, Rule } from './rule.ts';

export const HOOK_RULES: readonly Rule[] = [
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
        const waits = /(^|[;&|\s])(wait|while|until|tail)(\s|$)/.test(text) || /sleep\s+\S+$/.test(unended(text));
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

/** Without a semicolon and blanks at its end, and blanks at its beginning. */
function unended(script: string): string {
  const bare = script.trim();
  return bare.endsWith(';') ? bare.slice(0, -1).trimEnd() : bare;
}

/** The seconds that a hook does nothing but sleep; undefined: it does something else. */
function sleepSeconds({ preStop }: Container): number | undefined {
  if (preStop?.action.kind !== 'exec') return undefined;
  const { argv } = preStop.action;
  const isPlain = sleepMs(argv) !== undefined || /^\S*sleep\s+\S+$/.test(unended(shellCommandOf(argv)?.script ?? ''));
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
