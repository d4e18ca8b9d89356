/**
 * SX65: Compose files, the same questions where there is no kubelet.
 */
import { signalName, signalNumber } from '../../core/signals.ts';
import { insertKey, replaceValue } from '../edits.ts';
import type { ComposeService } from '../input/compose.ts';
import { at, isTrueAt, type Located } from '../input/located.ts';
import { trimmed } from '../input/source.ts';
import { factsOfImage, type Images, shellOf } from '../stop/images.ts';
import { secondsText } from '../stop/interval.ts';
import { gracefulSignalOf, longestStopOf } from '../stop/plan.ts';
import { fateOf, shellCommandOf } from '../stop/shell.ts';
import { argvOfService, packageManagerOf, programOfService } from '../stop/started.ts';
import { execBefore, shellSeverity } from './common.ts';
import type { Found, Rule } from './rule.ts';

export const COMPOSE_RULES: readonly Rule[] = [
  {
    id: 'SX651',
    severity: 'warning',
    title: 'The stop takes longer than stop_grace_period',
    why: 'Compose sends KILL after stop_grace_period, 10 s if the file does not say.',
    remedy: 'Raise stop_grace_period above the drain and what the program needs.',
    language: 'yaml',
    bad: 'services:\n  web:\n    image: example.com/web:1\n    entrypoint: [/sexton/sexton, run, --drain, 15s, --, /bin/server]\n',
    good: 'services:\n  web:\n    image: example.com/web:1\n    entrypoint: [/sexton/sexton, run, --drain, 15s, --, /bin/server]\n    stop_grace_period: 30s\n',
    isFixable: true,
    on: 'compose',
    find: (service, images) => {
      const argv = argvOfService(service, images);
      const longest = argv && longestStopOf(argv, service);
      if (longest === undefined || longest.ms <= service.graceMs) return [];
      const seconds = `${Math.ceil(longest.ms / 1_000) + (longest.isGrace ? 0 : 10)}s`;
      return [
        {
          place: composePlace(service, service.graceAt ?? service.node),
          message: `${service.name}: ${longest.by} takes up to ${secondsText(longest.ms)}, and KILL comes after ${secondsText(service.graceMs)}`,
          atMs: service.graceMs,
          edits:
            service.graceAt === undefined
              ? insertKey(service.source, service.node, 'stop_grace_period', seconds)
              : [replaceValue(service.source, service.graceAt, seconds)],
        },
      ];
    },
  },
  {
    id: 'SX652',
    severity: 'warning',
    title: 'stop_signal is not the graceful one of the program',
    why: 'Compose stops the container with this signal, on which this program cuts its requests.',
    remedy: "Write the program's own graceful signal.",
    language: 'yaml',
    bad: 'services:\n  web:\n    image: nginx:1.29\n    entrypoint: [nginx, -g, daemon off;]\n    stop_signal: SIGTERM\n',
    good: 'services:\n  web:\n    image: nginx:1.29\n    entrypoint: [nginx, -g, daemon off;]\n    stop_signal: SIGQUIT\n',
    isFixable: true,
    on: 'compose',
    find: (service, images) => {
      const node = at(service.node, 'stop_signal');
      const graceful = gracefulSignalOf(programOfService(service, images), service.image);
      const known = service.image === undefined ? undefined : factsOfImage(service.image, images);
      const inherited = known && (known.stopSignal ?? 'SIGTERM');
      const number = signalNumber((node === undefined ? inherited : service.stopSignal) ?? '');
      if (graceful === undefined || number === undefined || graceful.preset === 'postgres') return [];
      if (signalNumber(graceful.signal) === number) return [];
      const signal = `SIG${graceful.signal}`;
      const edits =
        node === undefined
          ? insertKey(service.source, service.node, 'stop_signal', signal)
          : [replaceValue(service.source, node, signal)];
      const what = node === undefined ? `the image says ${signalName(number)}` : `stop_signal is ${signalName(number)}`;
      return [
        {
          place: composePlace(service, node ?? service.node),
          message: `${service.name}: ${graceful.preset} ends gracefully on ${signal}, and ${what}`,
          edits,
        },
      ];
    },
  },
  {
    id: 'SX653',
    severity: 'warning',
    title: 'PID 1 of the service is a shell that does not pass the stop signal on',
    why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL.',
    remedy: 'Write exec before the last command of the script, or start the program without a shell.',
    language: 'yaml',
    bad: 'services:\n  web:\n    image: debian:12\n    command: sh -c "prepare && server --port 80"\n',
    good: 'services:\n  web:\n    image: debian:12\n    command: sh -c "prepare && exec server --port 80"\n',
    isFixable: true,
    on: 'compose',
    find: (service, images) => {
      const script = shellCommandOf(firstProcessOf(service, images));
      const shell = shellOf(service.image, images);
      const fate = script && fateOf(script, shell);
      if (script === undefined || fate?.mayStay !== true) return [];
      const node = scriptAt(service, script.index);
      const what = fate.stays
        ? 'stays PID 1 and ignores TERM'
        : 'may stay PID 1 and ignore TERM, which depends on the shell';
      return [
        {
          place: composePlace(service, node ?? service.node),
          message: `${service.name}: ${script.shell} -c ${what}: its command is ended by KILL after ${secondsText(service.graceMs)}`,
          severity: shellSeverity(script, fate, shell),
          atMs: service.graceMs,
          edits: execBefore(service.source, node, script.script),
        },
      ];
    },
  },
  {
    id: 'SX654',
    severity: 'info',
    title: 'A package manager is PID 1 of the service',
    why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
    remedy: 'Start the program itself: node server.js in place of npm start.',
    language: 'yaml',
    bad: 'services:\n  web:\n    image: node:22\n    command: npm start\n',
    good: 'services:\n  web:\n    image: node:22\n    command: node server.js\n',
    on: 'compose',
    find: (service, images) => {
      const program = packageManagerOf(firstProcessOf(service, images));
      if (program === undefined) return [];
      const { entries } = service.node;
      const key = (entries.get('entrypoint') ?? entries.get('command'))?.key;
      return [
        {
          place: composePlace(service, key ?? service.node),
          message: `${service.name}: ${program} is PID 1 and starts the program by a shell`,
        },
      ];
    },
  },
];

/** The command line of PID 1; empty: not known, or it is the init of Docker, or a process outside of the container. */
function firstProcessOf(service: ComposeService, images: Images): readonly string[] {
  const { node } = service;
  const isElsewhere = isTrueAt(node, 'init') || at(node, 'pid') !== undefined;
  return (isElsewhere ? undefined : argvOfService(service, images)) ?? [];
}

/** Where the service has the word of that index, or the text with it; undefined: the image has it. */
function scriptAt({ node, argv, command = [] }: ComposeService, index: number): Located | undefined {
  const before = argv === undefined ? 0 : argv.length - command.length;
  const [from, word] = index < before ? (['entrypoint', index] as const) : (['command', index - before] as const);
  const whole = at(node, from);
  return whole?.kind === 'list' ? at(whole, word) : whole;
}

function composePlace(
  { source, node }: ComposeService,
  range: { readonly start: number; readonly end: number },
): Found['place'] {
  const [first] = node.entries.values();
  // The first key stands for the whole service.
  return { source, ...trimmed(source, range === node && first !== undefined ? first.key : range) };
}
