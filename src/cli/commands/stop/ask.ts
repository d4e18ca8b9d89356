/** Asks each member by a file in the graveyard, so that no signal has to cross from one container into another. */
import type { StopRequest } from '../../../core/format/stop-request.ts';
import { leaveRequest } from '../../../runtime/graveyard/leave-request.ts';
import { badArguments } from '../arguments.ts';
import type { Here } from '../here.ts';
import type { StopArguments } from './arguments.ts';
import type { Target } from './targets.ts';

/** The paths of the requests by name. */
export async function ask(
  { dir, member }: Here,
  targets: readonly Target[],
  { action, names, graceMs, byRule }: StopArguments,
  request: Pick<StopRequest, 'Version' | 'At' | 'RequestedMonotonic'>,
): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  const together = targets.map(({ name }) => name);
  for (const { name, boot, host } of targets) {
    const left = await leaveRequest(dir, name, {
      ...request,
      Boot: boot,
      Incarnation: host,
      ...(graceMs === undefined ? {} : { GraceMs: graceMs }),
      ...(names.length === 0 ? {} : { Among: together }),
      ...(byRule === undefined ? {} : { ByRule: byRule }),
      By: `${member === undefined ? '' : `${member}, `}uid ${process.getuid?.() ?? '?'}, pid ${process.pid}`,
    });
    if (!left.ok) {
      const follows = action === 'stop' ? 'stopping' : 'restarting with all they tell';
      const others = paths.size === 0 ? '' : `; asked already, and ${follows}: ${[...paths.keys()].join(', ')}`;
      throw badArguments(action, `${left.trouble.message}${others}`);
    }
    paths.set(name, left.path);
  }
  return paths;
}
