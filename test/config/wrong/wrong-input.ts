/**
 * What people get wrong, and the one message that each of it gets. Data, so that the same table runs against the
 * resolver and against the built program. `{dir}` stands for a directory that exists, in which `files` lie; the command
 * would create the file `{dir}/started`.
 */

import { wrongEnvironments, wrongFiles } from './around.ts';
import { wrongContainers } from './containers.ts';
import { wrongFlags } from './flags.ts';
import { wrongHooks } from './hooks.ts';
import { wrongProbes } from './probes.ts';
import { wrongCombinations, wrongCommandLines } from './together.ts';
import { DIR, NAME_RULE, type WrongInput } from './wrong.ts';

/** What no wrong input may start. */
const COMMAND: readonly string[] = ['--', '/bin/touch', `${DIR}/started`];

/** The input for a directory that exists: whole command line, environment, files by path, message. */
export function placed({ argv, whole, env = {}, files = {}, message }: WrongInput, dir: string) {
  const place = (text: string): string => text.replaceAll(DIR, dir);
  return {
    argv: (whole ? argv : [...argv, ...COMMAND]).map(place),
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, place(text)])),
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}/${name}`, text])),
    message: place(message),
  };
}

export const WRONG_INPUTS: readonly WrongInput[] = [
  ...wrongFlags(),
  ...wrongCommandLines(),
  ...wrongCombinations(),
  ...wrongEnvironments(),
  ...wrongFiles(),
  ...wrongProbes(),
  ...wrongHooks(),
  ...wrongContainers(),
  {
    title: 'several things at once, in one message',
    argv: ['--drian', '5s', '--role', 'helper', '--name', 'Web'],
    env: { SEXTON_LINGER: '2' },
    message: [
      'unknown flag --drian; did you mean --drain?',
      '  --role helper: must be one of main, sidecar',
      `  --name Web: ${NAME_RULE}; write web`,
      '  SEXTON_LINGER=2: a duration needs a unit; write 2s or 2ms',
    ].join('\n'),
  },
];
