/**
 * SX60: Dockerfiles.
 */
import { basename } from 'node:path';
import { startedBy } from '../../config/notation/program.ts';
import { presetOf } from '../../config/notation/stop-presets.ts';
import { parseWords } from '../../config/notation/words.ts';
import { signalName, signalNumber } from '../../core/signals.ts';
import { replaceValue } from '../edits.ts';
import type { Edit, Severity } from '../finding.ts';
import type { Stage, Started } from '../input/dockerfile.ts';
import { trimmed } from '../input/source.ts';
import { type Images, shellOf, stopSignalOf } from '../stop/images.ts';
import { gracefulSignalOf } from '../stop/plan.ts';
import { fateOf, lastProgramOf, type ShellCommand, shellCommandOf } from '../stop/shell.ts';
import { argvOfStage, isBehindEntrypoint, ownArgvOfStage, packageManagerOf, programOfStage } from '../stop/started.ts';
import { shellSeverity } from './common.ts';
import type { Found, Rule } from './rule.ts';

export const DOCKER_RULES: readonly Rule[] = [
  {
    id: 'SX601',
    severity: 'warning',
    title: 'The shell form starts the program behind a shell',
    why: "CMD and ENTRYPOINT without brackets are run by /bin/sh -c. Debian's dash stays PID 1 and ignores TERM; busybox becomes its last command.",
    remedy: 'Write the exec form: CMD ["server", "--port", "80"].',
    language: 'dockerfile',
    bad: 'FROM debian:12\nCMD server --port 80\n',
    good: 'FROM debian:12\nCMD ["server", "--port", "80"]\n',
    isFixable: true,
    on: 'dockerfile',
    find: (stage, images) => {
      const started = stage.entrypoint ?? stage.cmd;
      if (started?.form !== 'shell' || isBehindEntrypoint(stage, images)) return [];
      const script = shellCommandOf([stage.shell, '-c', started.script]);
      const severity = script && severityOf(stage, script, images);
      if (severity === undefined) return [];
      const words = parseWords(started.script);
      const isPlain =
        words.ok &&
        !words.value.some((word) => word.includes('=') || BUILTINS.test(word)) &&
        !started.script.includes('\n');
      const text = words.ok ? `[${words.value.map((word) => JSON.stringify(word)).join(', ')}]` : '';
      return [
        {
          place: placeOf(stage, started),
          message: `the shell form ${severity === 'info' ? 'may put' : 'puts'} a shell in front of the program, which then does not get the stop signal`,
          severity,
          edits: isPlain ? [replaceValue(stage.source, started.arguments, text)] : [],
        },
      ];
    },
  },
  {
    id: 'SX602',
    severity: 'error',
    title: 'sh -c with a list of commands, the last one without exec',
    why: 'The shell waits for its last command and ignores TERM as PID 1. Linters that only ask for the exec form do not see it.',
    remedy: 'Write exec before the last command.',
    language: 'dockerfile',
    bad: 'FROM debian:12\nCMD ["sh", "-c", "prepare && server"]\n',
    good: 'FROM debian:12\nCMD ["sh", "-c", "prepare && exec server"]\n',
    isFixable: true,
    on: 'dockerfile',
    find: (stage, images) => {
      const started = stage.entrypoint ?? stage.cmd;
      const script = shellCommandOf(ownArgvOfStage(stage));
      const severity = script && severityOf(stage, script, images);
      if (isBehindEntrypoint(stage, images)) return [];
      if (script === undefined || severity === undefined || started === undefined) return [];
      return [
        {
          place: placeOf(stage, started),
          message: `${script.shell} -c ${severity === 'info' ? 'may stay' : 'stays'} PID 1 and does not pass the stop signal on: write exec before its last command`,
          severity,
          edits: execEdit(stage, started, script.script),
        },
      ];
    },
  },
  {
    id: 'SX603',
    severity: 'warning',
    title: 'STOPSIGNAL is not the graceful one of the program',
    why: 'The platform stops the container with this signal, on which this program cuts its requests.',
    remedy: "Write the program's own graceful signal, or leave it to sexton with --stop auto.",
    language: 'dockerfile',
    bad: 'FROM debian:12\nSTOPSIGNAL SIGTERM\nCMD ["nginx", "-g", "daemon off;"]\n',
    good: 'FROM debian:12\nSTOPSIGNAL SIGQUIT\nCMD ["nginx", "-g", "daemon off;"]\n',
    isFixable: true,
    on: 'dockerfile',
    find: (stage, images) => {
      const { stopSignal, source } = stage;
      const graceful = gracefulSignalOf(programOfStage(stage, images), stage.base);
      const number = signalNumber(stopSignal?.text ?? '');
      if (stopSignal === undefined || graceful === undefined || number === undefined || graceful.preset === 'postgres')
        return [];
      if (signalNumber(graceful.signal) === number) return [];
      return [
        {
          place: placeOf(stage, stopSignal),
          message: `${graceful.preset} ends gracefully on SIG${graceful.signal}, and STOPSIGNAL is ${signalName(number)}`,
          edits: [replaceValue(source, stopSignal, `SIG${graceful.signal}`)],
        },
      ];
    },
  },
  {
    id: 'SX604',
    severity: 'warning',
    title: 'The STOPSIGNAL of the base image is meant for another program',
    why: 'STOPSIGNAL is inherited. A program that does not know QUIT or WINCH dies of it at once, or ignores it until KILL.',
    remedy: 'Write STOPSIGNAL SIGTERM.',
    language: 'dockerfile',
    bad: 'FROM nginx:1.29\nCMD ["node", "server.js"]\n',
    good: 'FROM nginx:1.29\nSTOPSIGNAL SIGTERM\nCMD ["node", "server.js"]\n',
    on: 'dockerfile',
    find: (stage, images) => {
      const inherited = stopSignalOf(stage.base, images);
      const started = stage.entrypoint ?? stage.cmd;
      const { program } = startedBy(argvOfStage(stage, images));
      const isScript = /\.sh$|^(sh|bash|dash|ash|sexton|docker-entrypoint|docker-php-entrypoint)$/.test(program);
      if (stage.stopSignal !== undefined || inherited === undefined || inherited === 'SIGTERM' || started === undefined)
        return [];
      // The program of the image below has the signal that is meant for it.
      const isOwn = ownArgvOfStage(stage).some((word) => basename(word) === program);
      if (!isOwn || isScript || presetOf(program) !== undefined) return [];
      return [
        { place: placeOf(stage, started), message: `${program} inherits STOPSIGNAL ${inherited} from ${stage.base}` },
      ];
    },
  },
  {
    id: 'SX605',
    severity: 'warning',
    title: 'The entrypoint script never execs',
    why: 'The script stays PID 1 and waits for the program. Without a trap it ignores TERM, and the program never hears of it.',
    remedy: 'End the script with exec "$@", or with exec and the program.',
    language: 'dockerfile',
    bad: 'FROM debian:12\nCOPY without-exec.sh /entrypoint.sh\nENTRYPOINT ["/entrypoint.sh"]\n',
    good: 'FROM debian:12\nCOPY with-exec.sh /entrypoint.sh\nENTRYPOINT ["/entrypoint.sh"]\n',
    on: 'dockerfile',
    find: (stage) => {
      const [path] = stage.entrypoint?.argv ?? [];
      const file = path === undefined ? undefined : stage.copied.get(path);
      const text = file === undefined ? undefined : stage.readBeside(file);
      if (stage.entrypoint === undefined || text === undefined || !/^#!.*\b(sh|bash|dash|ash)\b/.test(text)) return [];
      const code = text.replaceAll(/^\s*#.*/gm, '');
      if (/(^|[\s;&|({])(exec|trap)\s/m.test(code)) return [];
      return [
        {
          place: placeOf(stage, stage.entrypoint),
          message: `${file} never runs exec, so it stays PID 1 in front of the program`,
        },
      ];
    },
  },
  {
    id: 'SX606',
    severity: 'error',
    title: 'A STOPSIGNAL that stops nothing gracefully',
    why: 'KILL ends everything at once, STOP freezes it until KILL, and what is no signal makes the container fail to stop.',
    remedy: 'Write the signal on which the program ends gracefully, mostly SIGTERM.',
    language: 'dockerfile',
    bad: 'FROM debian:12\nSTOPSIGNAL SIGKILL\nCMD ["server"]\n',
    good: 'FROM debian:12\nSTOPSIGNAL SIGTERM\nCMD ["server"]\n',
    on: 'dockerfile',
    find: (stage) => {
      const { stopSignal } = stage;
      if (stopSignal === undefined || stopSignal.text.includes('$')) return [];
      const number = signalNumber(stopSignal.text);
      const name = number === undefined ? undefined : signalName(number);
      if (name !== undefined && !['SIGKILL', 'SIGSTOP'].includes(name)) return [];
      const what =
        name === undefined
          ? 'is no signal'
          : name === 'SIGKILL'
            ? 'ends the program at once'
            : 'freezes the program until KILL';
      return [{ place: placeOf(stage, stopSignal), message: `STOPSIGNAL ${stopSignal.text} ${what}` }];
    },
  },
  {
    id: 'SX607',
    severity: 'info',
    title: 'The image starts a package manager',
    why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
    remedy: 'Start the program itself: CMD ["node", "server.js"] in place of npm start.',
    language: 'dockerfile',
    bad: 'FROM node:22\nCMD ["npm", "start"]\n',
    good: 'FROM node:22\nCMD ["node", "server.js"]\n',
    on: 'dockerfile',
    find: (stage, images) => {
      const started = stage.entrypoint ?? stage.cmd;
      const program = packageManagerOf(
        started?.form === 'shell' ? becomes(stage, started, images) : argvOfStage(stage, images),
      );
      if (started === undefined || program === undefined) return [];
      return [{ place: placeOf(stage, started), message: `${program} is PID 1 and starts the program by a shell` }];
    },
  },
];

const BUILTINS = /^(cd|export|source|\.|set|exec|ulimit|umask)$/;

function placeOf({ source }: Stage, range: { readonly start: number; readonly end: number }): Found['place'] {
  return { source, ...trimmed(source, range) };
}

function severityOf({ base }: Stage, script: ShellCommand, images: Images): Severity | undefined {
  const shell = shellOf(base, images);
  const fate = fateOf(script, shell);
  return fate.mayStay ? shellSeverity(script, fate, shell) : undefined;
}

/** The command of a shell form that its shell becomes; empty: it stays, or it has more than one. */
function becomes(stage: Stage, { script }: Started, images: Images): readonly string[] {
  const command = shellCommandOf([stage.shell, '-c', script]);
  const words = parseWords(script);
  const isFirst = command !== undefined && severityOf(stage, command, images) === undefined;
  return isFirst && words.ok && !isBehindEntrypoint(stage, images) ? words.value : [];
}

function execEdit(stage: Stage, started: Started, script: string): readonly Edit[] {
  const tail = lastProgramOf(script);
  if (tail === undefined) return [];
  const raw = stage.source.text.slice(started.start, started.end);
  const index = raw.lastIndexOf(`${tail}"`);
  // Where JSON escapes something its text is not that of the script.
  if (index === -1) return [];
  const start = started.start + index;
  return [{ source: stage.source, start, end: start, text: 'exec ' }];
}
