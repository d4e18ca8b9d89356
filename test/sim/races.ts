/**
 * What comes just when init has acted unknown to its supervisor, or lets it go, or when a container is started again.
 * Chance would hardly ever hit that.
 */
import { SIGKILL } from '../../src/core/signals.ts';
import type { Container } from './container.ts';
import { ask, askToRestart } from './faults.ts';
import type { Race } from './scenario.ts';

/** Its init is at this point: what is to come then comes before anything else does. False: nothing is. */
export function comeBetween(container: Container, at: Race['at']): boolean {
  const { world, member } = container;
  const { race } = world.scenario;
  if (race?.at !== at || race.who !== member.index || world.hasRaced || !isReady(container, race)) return false;
  world.hasRaced = true;
  world.calmAtMs = Math.max(world.calmAtMs, world.agenda.nowMs);
  world.tell(member.name, `fault: ${race.what} at its ${at}`);
  world.count(`fault: ${race.what} at the ${at}`);
  befallWith(container, race);
  return true;
}

function befallWith(container: Container, race: Race): void {
  const { world } = container;
  switch (race.what) {
    case 'sexton stop':
      return ask(world, race, container);
    case 'sexton restart':
      return askToRestart(world, race, container);
    case 'signal':
      return container.signal(race.signal);
    case 'end':
      return container.endCommand({ code: race.code, signal: undefined });
    case 'KILL':
      return container.endCommand({ code: undefined, signal: SIGKILL });
    case 'delete':
      return void world.agenda.in(world.dice.int(100), undefined, () =>
        world.kubelet.delete(world.scenario.graceMs, false),
      );
    default:
      return race satisfies never;
  }
}

function isReady({ world, brain, isCommandAlive }: Container, { fromMs, at }: Race): boolean {
  const { nowMs } = world.agenda;
  if (nowMs < fromMs) return false;
  if (at === 'return') return true;
  if (brain === undefined || brain.actor.frozenUntilMs > nowMs) return false;
  return at === 'prepared end' || isCommandAlive;
}
