/**
 * The first supervisor of a container makes the configuration, or refuses to start. Later ones have it from the memo and
 * never load this.
 */
import type { DropIn } from '../../../config/dropin/dropin.ts';
import { type Resolution, resolveRun } from '../../../config/resolve.ts';
import { EXIT } from '../../../core/exit.ts';
import type { Host } from '../../../runtime/host/host.ts';
import { leaveRefusal } from '../../../runtime/log/termination-log.ts';
import { withTimeout } from '../../../runtime/timeouts.ts';
import { complainInTime, SextonError } from '../../../text/errors.ts';
import { machine, NO_INIT, NO_NOTIFY } from '../../machine.ts';

interface Circumstances {
  readonly host: Host;
  readonly argv: readonly string[];
  readonly as: DropIn | undefined;
  /** Init saw no `/graveyard`. One that has come since then is none for a command that init has started by itself. */
  readonly isSolo: boolean;
  readonly whyNode: string | undefined;
  /** Something runs already, so nothing may be refused any more: init tries again, and goes on alone. */
  readonly isResumed: boolean;
}

/** undefined: it was refused. */
export async function configure({ host, argv, as, isSolo, whyNode, isResumed }: Circumstances) {
  const { isDirectory, isMissing } = machine;
  const isHidden = (path: string): boolean => isSolo && path === '/graveyard';
  const resolution = await resolveRun(
    argv,
    process.env,
    {
      ...machine,
      whyNode: host.init === undefined ? NO_INIT : whyNode,
      isDirectory: (path) => !isHidden(path) && isDirectory(path),
      isMissing: (path) => isHidden(path) || isMissing(path),
    },
    as,
  );
  if (!resolution.ok && isResumed) throw new SextonError('badConfiguration', resolution);
  if (!resolution.ok) return void (await refuseToStart(host, resolution));
  const { run, warnings, notes } = resolution;
  if (run.member.notifies && host.init === undefined) {
    const { member, terminationLog } = run;
    return void (await refuseToStart(host, { ok: false, problems: [NO_NOTIFY], name: member.name, terminationLog }));
  }
  return { config: run, remarks: { warnings, notes } };
}

/** Prints all problems in one message; nothing was started. A stalled reader of stderr must not keep the container. */
async function refuseToStart(host: Host, refusal: Extract<Resolution, { ok: false }>): Promise<void> {
  const { problems, name, terminationLog } = refusal;
  await withTimeout(complainInTime(new SextonError('badConfiguration', { problems })), MAX_COMPLAINING_MS);
  await leaveRefusal(terminationLog, name, problems);
  host.commit({ ack: undefined, memo: undefined, commands: [{ type: 'exit', code: EXIT.sexton }] });
}

const MAX_COMPLAINING_MS = 200;
