/**
 * The answer under another program's name when there is no command to run: help, version, licence, or what is wrong
 * with the command line. Stream and exit code are those of the other program, and the answer always says that it is
 * sexton.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DropIn, readDropIn } from '../../../config/dropin/line.ts';
import type { Env } from '../../../config/env.ts';
import { complainInTime } from '../../../text/errors.ts';
import { print } from '../../../text/print.ts';
import { versionNumber } from '../../../text/version.ts';

export async function answer(as: DropIn, argv: readonly string[], env: Env): Promise<void> {
  const line = readDropIn(as, argv, env);
  switch (line.asks) {
    case 'help':
      return tell(as, `${whoIsThere(as)}${HELP[as]}`);
    case 'version':
      return tell(as, whoIsThere(as));
    case 'license':
      return tell(as, `${whoIsThere(as)}${licenseText()}`);
    case 'nothing':
      process.exitCode = as === 'kubexit' ? 2 : 1;
      return complainInTime(new Refusal(`cannot start as ${as}: ${line.problem}; ${as} -h names what it takes`));
    case 'run':
      throw new Error(`internal error: init took this for no command line of ${as}`);
    default:
      return line satisfies never;
  }
}

/** Told like sexton's own errors, but with the exit code of the other program. */
class Refusal extends Error {
  override readonly name = 'SextonError';
}

/** dumb-init answers on stderr. */
async function tell(as: DropIn, text: string): Promise<void> {
  if (as === 'dumb-init') await new Promise<void>((resolve) => process.stderr.write(text, () => resolve()));
  else await print(text);
}

function whoIsThere(as: DropIn): string {
  return `sexton ${versionNumber()} in the place of ${as}\n`;
}

function licenseText(): string {
  try {
    return readFileSync(join(import.meta.dirname, '../licenses/sexton.txt'), 'utf8');
  } catch {
    return 'Apache License 2.0, see LICENSE\n';
  }
}

const MORE = `
With a variable SEXTON_* (sexton help environment) the command also gets what a
member of a pod has: a drain, a stop ladder, probes, a tombstone.
`;

const HELP: Readonly<Record<DropIn, string>> = {
  tini: `
tini [flags] [--] command [args...]
  -s          adopt orphans also when this is not PID 1; or TINI_SUBREAPER
  -p SIGNAL   receive this signal when the parent dies: -p SIGTERM
  -g          signals reach the command's process group; or TINI_KILL_PROCESS_GROUP
  -e CODE     exit with 0 in place of this code, 0 to 255; may be repeated
  -w          say which orphans are reaped
  -v          say more, up to -vvv; or TINI_VERBOSITY
  -l          the licence
  -h          this; --version alone: the version of sexton
${MORE}`,
  'dumb-init': `
dumb-init [flags] [--] command [args...]
  -c, --single-child     signals reach the command alone, not its process group;
                         or DUMB_INIT_SETSID=0
  -r, --rewrite FROM:TO  pass this signal on as another, by numbers; 0 drops it;
                         may be repeated
  -v, --verbose          say what is done; or DUMB_INIT_DEBUG=1
  -h, --help             this
  -V, --version          the version of sexton
${MORE}`,
  kubexit: `
kubexit command [args...]
  KUBEXIT_NAME           the name of this container in the graveyard
  KUBEXIT_GRAVEYARD      the directory that the containers share: /graveyard
  KUBEXIT_BIRTH_DEPS     wait for these before the command starts
  KUBEXIT_BIRTH_TIMEOUT  and for how long: 30s
  KUBEXIT_DEATH_DEPS     stop the command when one of these has ended
  KUBEXIT_GRACE_PERIOD   KILL it this long after that: 30s
Variables SEXTON_* count more; sexton help environment names them.
`,
};
