/**
 * A plain command: one that init runs without Node, from its start to its end, unless there is something to tell. Init
 * has decided so by the form of the command line and the environment alone (`src/init/start/start.c`); the same forms stand
 * here, so that `explain` can say it and the log keeps to it. `test/init/plain.test.ts` compares the two.
 */
import { show } from '../notation/parse.ts';
import type { Env } from './env.ts';
import { variableOf } from './flags.ts';
import { flagLabel, variableLabel } from './given.ts';

/** Why there is Node from the start, as a user would write it; undefined: there is none. */
export function whyNode(argv: readonly string[], env: Env, isMissing: (path: string) => boolean): string | undefined {
  const variables = new Map<string, string>();
  for (const name in env) {
    const text = env[name];
    if (text === undefined) continue;
    if (name.startsWith('KUBEXIT_') || name === 'KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT') return show(name);
    if (!name.startsWith('SEXTON_')) continue;
    const flag = name === 'SEXTON_POD_UID' ? 'session' : FLAG_NAMES.find((it) => variableOf(it) === name);
    if (flag === undefined || !FORMS[flag].test(text)) return variableLabel(name, text);
    variables.set(flag, text);
  }
  const flags = readFlags(argv);
  if (typeof flags === 'string') return flags;
  const [grace, drain] = (['grace-period', 'drain'] as const).map((it) => flags.get(it) ?? variables.get(it));
  if (grace !== undefined && drain !== undefined) return `--drain ${drain}`;
  for (const [flag, form] of Object.entries(QUIET_FORMS)) {
    const [given, variable] = [flags.get(flag), variables.get(flag)];
    const text = given ?? variable;
    if (text === undefined || form.test(text)) continue;
    return given === undefined ? variableLabel(variableOf(flag), text) : flagLabel(flag, text);
  }
  return isMissing('/graveyard') ? undefined : 'the graveyard /graveyard';
}

/** Up to the command; a text is the flag because of which there is Node. */
function readFlags(argv: readonly string[]): Map<string, string> | string {
  const flags = new Map<string, string>();
  for (let at = argv[0] === 'run' ? 1 : 0; at < argv.length; ) {
    const word = argv[at] ?? '';
    if (word === '--' || !word.startsWith('-')) break;
    const [, name = '', joined] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = FLAG_NAMES.find((it) => it === name);
    const text = joined ?? argv[at + 1] ?? '';
    if (flag === undefined) return show(word);
    if (flags.has(flag) || !FORMS[flag].test(text)) return flagLabel(flag, text);
    flags.set(flag, text);
    at += joined === undefined ? 2 : 1;
  }
  return flags;
}

const SOME_TIME = /^0*[1-9]\d*(ms|s|m)$(?<=^(\d{1,6}m?s|\d{1,4}m))/;

/** What can be started before Node has looked at it. */
const FORMS = {
  name: /^(?!-)[-a-z0-9]{1,63}(?<!-)$/,
  role: /^main$/,
  'restart-policy': /^(Never|OnFailure|Always)$/,
  'grace-period': SOME_TIME,
  drain: /^(\d{1,6}m?s|\d{1,4}m)$/,
  graveyard: /^\/[-/._a-zA-Z0-9]{1,36}$/,
  session: /^(?!-)[-a-zA-Z0-9]{1,64}$/,
  'log-level': /^(debug|info|warn|error)$/,
  'log-format': /^(json|text)$/,
  'sleep-after': new RegExp(`^never$|${SOME_TIME.source}`),
} as const;

const FLAG_NAMES = Object.keys(FORMS) as readonly (keyof typeof FORMS)[];

/** Of these what asks for nothing that only Node does. */
const QUIET_FORMS: Readonly<Record<string, RegExp>> = {
  drain: /^0+(m?s|m)$/,
  graveyard: /^$/,
  'log-level': /^(warn|error)$/,
};
