/**
 * Wrong inputs: the environment and the configuration file.
 */
import { DIR, NAME_RULE, type WrongInput } from './wrong.ts';

export const IN_FILE = `${DIR}/sexton.yaml`;

export function wrongEnvironments(): readonly WrongInput[] {
  return [
    variable(
      'a misspelt variable',
      { SEXTON_GRACE_PERIODE: '30s' },
      'unknown variable SEXTON_GRACE_PERIODE; did you mean SEXTON_GRACE_PERIOD?',
    ),
    variable(
      'D8 a variable without a word of its name',
      { SEXTON_GRACE: '30s' },
      'unknown variable SEXTON_GRACE; did you mean SEXTON_GRACE_PERIOD?',
    ),
    variable(
      'a wrong value in a variable',
      { SEXTON_ROLE: 'Main' },
      'SEXTON_ROLE=Main: must be one of main, sidecar; did you mean main?',
    ),
    variable(
      'a probe in a variable',
      { SEXTON_READINESS: 'tcp:80' },
      'SEXTON_READINESS=tcp:80: tcp:80 has no // after tcp:; write one such as tcp://:8080',
    ),
    variable("K17 kubexit's name", { KUBEXIT_NAME: '../x' }, `KUBEXIT_NAME=../x: ${NAME_RULE}; write x`),
    variable(
      "kubexit's grace period without a unit",
      { KUBEXIT_GRACE_PERIOD: '30' },
      'KUBEXIT_GRACE_PERIOD=30: a duration needs a unit; write 30s or 30ms',
    ),
    variable(
      "a sidecar by OpenKruise's marker, without a graveyard",
      { KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT: 'TRUE' },
      'role sidecar (KRUISE_TERMINATE_SIDECAR_WHEN_JOB_EXIT): a sidecar needs a graveyard; give --graveyard DIR, a volume that it shares with its mains',
    ),
    variable(
      "a pod's uid that was not expanded",
      { SEXTON_POD_UID: '$(UID)' },
      "SEXTON_POD_UID=$(UID): $(UID) was not expanded; declare that variable before this one in the Pod's env",
    ),
    variable(
      'a file that is not there',
      { SEXTON_CONFIG: IN_FILE },
      `SEXTON_CONFIG=${IN_FILE}: cannot be read: no such file; check that its volume is mounted`,
    ),
  ];
}

export function wrongFiles(): readonly WrongInput[] {
  return [
    file(
      'a directory for a file',
      undefined,
      `--config ${DIR}: cannot be read: it is a directory; name the file in it`,
    ),
    file(
      'YAML that is none',
      'mains: [a, b\nrole: main\n',
      `${IN_FILE}: is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1`,
    ),
    file(
      'a list for a map',
      '- role: main\n',
      `${IN_FILE}: must be a map of keys; write one key per line, such as role: sidecar`,
    ),
    file('two documents', 'role: main\n---\nrole: sidecar\n', `${IN_FILE}: holds several documents; keep one of them`),
    file(
      'a whole manifest',
      'apiVersion: v1\nkind: Pod\n',
      `${IN_FILE}: is a whole manifest; write only the keys of this one container, such as command and role`,
    ),
    file(
      'a misspelt key',
      'graceperiod: 30\n',
      `graceperiod in ${IN_FILE}: unknown key; did you mean terminationGracePeriodSeconds?`,
    ),
    file(
      'a key in the style of a flag',
      'start-after: db=started\n',
      `start-after in ${IN_FILE}: unknown key; did you mean startAfter?`,
    ),
    file(
      'a field that only the platform can act on',
      'env: [{name: A, value: b}]\n',
      `env in ${IN_FILE}: belongs to the platform, sexton sets no variables; leave it in the Pod`,
    ),
    file(
      'a grace period with a unit',
      'terminationGracePeriodSeconds: 30s\n',
      `terminationGracePeriodSeconds: 30s in ${IN_FILE}: must be a whole number of seconds; write one such as 30`,
    ),
    file('a drain without a unit', 'drain: 5\n', `drain: 5 in ${IN_FILE}: a duration needs a unit; write 5s or 5ms`),
    file('a key without a value', 'mains:\n', `mains: null in ${IN_FILE}: needs a value; write NAME,..`),
    file('D6 a name that is null', 'name: null\n', `name: null in ${IN_FILE}: needs a value; write NAME`),
    file(
      'D6 YAML nested a thousand deep',
      `drain: ${'['.repeat(1000)}${']'.repeat(1000)}\n`,
      `${IN_FILE}: is nested too deeply; a configuration has only a few levels`,
    ),
    file(
      'D6 YAML nested 20,000 deep',
      `drain: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`,
      `${IN_FILE}: is nested too deeply; a configuration has only a few levels`,
    ),
    file(
      'D6 YAML that holds itself',
      'drain: &a [*a]\n',
      `${IN_FILE}: is nested too deeply; a configuration has only a few levels`,
    ),
    inJson(
      'D6 JSON nested 20,000 deep',
      `{"drain": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      'is nested too deeply; a configuration has only a few levels',
    ),
    inJson(
      'D6 a key twice in JSON',
      '{"role": "main", "signals": {"TERM": "a:{"}, "r\\u006fle": "sidecar"}',
      'the key role appears twice; keep one of them',
    ),
    file(
      'a command as one text',
      'command: nginx -g x\n',
      `command: "nginx -g x" in ${IN_FILE}: must be a list of strings; write ["nginx", "-g", "daemon off;"]`,
    ),
    file(
      'arguments without a command',
      'args: [-v]\n',
      `args in ${IN_FILE}: command is missing; write it in the same file`,
    ),
    file(
      'a graveyard with a NUL byte',
      'graveyard: "/g\\0y"\n',
      `graveyard: "/g\\u0000y" in ${IN_FILE}: must not contain a NUL byte; write a directory such as /graveyard`,
    ),
    inJson('JSON that is cut off', '{"role": ', 'is not JSON: Unexpected end of JSON input'),
    {
      title: 'a file and a flag that do not go together',
      argv: ['--config', IN_FILE, '--drain', '20s'],
      files: { 'sexton.yaml': 'terminationGracePeriodSeconds: 10\n' },
      message: `--drain 20s: must be shorter than terminationGracePeriodSeconds: 10 in ${IN_FILE}, or no time is left to stop; write a shorter drain`,
    },
  ];
}

function inJson(title: string, content: string, problem: string): WrongInput {
  const path = `${DIR}/sexton.json`;
  return { title, argv: ['--config', path], files: { 'sexton.json': content }, message: `${path}: ${problem}` };
}

function variable(title: string, env: Readonly<Record<string, string>>, message: string): WrongInput {
  return { title, argv: [], env, message };
}

export function file(title: string, content: string | undefined, message: string): WrongInput {
  if (content === undefined) return { title, argv: ['--config', DIR], message };
  return { title: `${title}, in a file`, argv: ['--config', IN_FILE], files: { 'sexton.yaml': content }, message };
}
