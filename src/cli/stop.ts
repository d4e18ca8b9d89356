/**
 * `sexton stop [--grace 5s] [--no-wait] [--graveyard DIR] [NAME...]`: asks the members of this pod to stop, from inside any of its
 * containers, and waits until they are dead.
 *
 * Each is asked by a file in the graveyard, so no signal has to cross from one container into another. Asked as one they
 * stop as one: in order, and within one deadline.
 */
import { unlink } from 'node:fs/promises';
import { asked } from '../core/stop-request.ts';
import type { Tombstone } from '../core/tombstone.ts';
import { readBootId } from '../runtime/boot-id.ts';
import { SystemClock } from '../runtime/clock.ts';
import { leaveRequest } from '../runtime/graveyard/ask.ts';
import { formatDuration } from './duration.ts';
import type { Env } from './env.ts';
import { warn } from './errors.ts';
import { findHere, type Here, readHere } from './here.ts';
import { print } from './print.ts';
import { readStopArguments, type StopArguments, wrong } from './stop-arguments.ts';
import { cannotBeAsked, pickTargets, type Target, type Targets } from './stop-targets.ts';
import { type End, waitForEnds } from './stop-wait.ts';

export async function stop(args: readonly string[], env: Env): Promise<void> {
  const request = readStopArguments(args);
  const here = await findHere('stop', request.graveyard, env);
  const targets = await findTargets(here, request.names);
  for (const { name, why } of targets.doubtful)
    warn(`${name} may be dead: its handle cannot be asked (${why}); it is asked all the same`);
  if (request.waits && targets.alive.length > 0) await print(whatWillHappen(targets.alive, request, here));
  const clock = new SystemClock();
  const paths = await ask(here, targets.alive, request, clock);
  for (const tombstone of targets.dead) await print(`${tombstone.Name} was dead already: ${howItEnded(tombstone)}\n`);
  if (targets.deaf.length > 0) warn(cannotBeAsked(targets.deaf));
  if (!request.waits) {
    if (paths.size > 0) await print(`asked to stop: ${[...paths.keys()].join(', ')}\n`);
    return;
  }
  const survivors = await waitForEnds({
    dir: here.dir,
    targets: targets.alive,
    graceMs: request.graceMs,
    now: () => clock.now().mono,
    onEnd: async ({ name }, end, tookMs) => {
      // Where the member could not remove it itself.
      await unlink(paths.get(name) ?? '').catch(() => {});
      await print(`${name} ${wordsFor(end)}, after ${formatDuration(Math.round(tookMs))}\n`);
    },
  });
  if (survivors.length === 0) return;
  process.exitCode = OUTLIVED;
  const who = survivors.map(({ name, phase }) => `${name} (${phase})`).join(', ');
  warn(`the grace period is over and not dead: ${who}; see sexton status and the log of that container`);
}

/** Said before it is done: called by `kubectl exec` in a container that it stops, the rest is never printed. */
function whatWillHappen(targets: readonly Target[], { graceMs }: StopArguments, { member }: Here): string {
  const names = targets.map(({ name }) => name);
  const grace = graceMs === undefined ? 'the grace period of each' : formatDuration(graceMs);
  const first = `stopping ${names.join(', ')} within ${grace}\n`;
  if (member === undefined || !names.includes(member)) return first;
  return `${first}this call runs in the container of ${member} and ends with it: exit code 137 means that it was stopped; to return before that, give --no-wait\n`;
}

/** Somebody outlived the grace period. */
const OUTLIVED = 1;

async function findTargets(here: Here, names: readonly string[]): Promise<Targets> {
  const targets = pickTargets(await readHere(here), names, readBootId());
  if (targets.alive.length === 0 && targets.dead.length === 0)
    throw wrong(`nobody is alive in the graveyard ${here.dir} (${here.source})`);
  return targets;
}

/** The paths of the requests by name. */
async function ask(
  { dir, member }: Here,
  targets: readonly Target[],
  { names, graceMs }: StopArguments,
  clock: SystemClock,
): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  const now = clock.now();
  const together = targets.map(({ name }) => name);
  for (const { name, boot, host } of targets) {
    const left = await leaveRequest(dir, name, {
      ...asked(now),
      Boot: boot,
      Incarnation: host,
      ...(graceMs === undefined ? {} : { GraceMs: graceMs }),
      ...(names.length === 0 ? {} : { Among: together }),
      By: `${member === undefined ? '' : `${member}, `}uid ${process.getuid?.() ?? '?'}, pid ${process.pid}`,
    });
    if (!left.ok) {
      const done = paths.size === 0 ? '' : `; asked already, and stopping: ${[...paths.keys()].join(', ')}`;
      throw wrong(`${left.trouble.message}${done}`);
    }
    paths.set(name, left.path);
  }
  return paths;
}

function wordsFor(end: End): string {
  switch (end.is) {
    case 'dead':
      return howItEnded(end.tombstone);
    case 'reborn':
      return 'ended, and its container runs again';
    case 'lost':
      return 'lost, exit code unknown';
    default:
      return end satisfies never;
  }
}

function howItEnded({ Reason, ExitCode, Signal }: Tombstone): string {
  const code = ExitCode === undefined ? 'exit code unknown' : `exit code ${ExitCode}`;
  return [Reason ?? 'dead', code, ...(Signal === undefined ? [] : [Signal])].join(', ');
}
