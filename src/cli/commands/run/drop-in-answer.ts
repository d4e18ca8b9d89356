/**
 * The answer under another program's name when its command line asks for help, version or licence. The stream is that of
 * the other program, and the answer always says that it is sexton.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DropIn } from '../../../config/dropin/dropin.ts';
import { print } from '../../../text/print.ts';
import { versionNumber } from '../../../text/version.ts';

/** `asks`: the word that init gives for such a command line. */
export async function answer({ name }: DropIn, asks: string | undefined): Promise<void> {
  const text = `sexton ${versionNumber()} in the place of ${name}\n${detailsOf(name, asks)}`;
  // dumb-init answers on stderr.
  if (name === 'dumb-init') await new Promise<void>((resolve) => process.stderr.write(text, () => resolve()));
  else await print(text);
}

function detailsOf(name: DropIn['name'], asks: string | undefined): string {
  if (asks === 'help') return HELP[name];
  return asks === 'license' ? licenseText() : '';
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

const HELP: Readonly<Record<DropIn['name'], string>> = {
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
