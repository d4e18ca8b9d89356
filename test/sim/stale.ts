/** What is in the graveyard that no member of this pod has put there. */
import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import type { Fault, Stale } from './scenario.ts';
import { Content } from './volume.ts';
import type { World } from './world.ts';

const TIME = '2026-12-31T23:59:59.000000000Z';
/** A socket whose holder is gone. */
const NOBODY = { isRunning: false };

export function litter(world: World): void {
  for (const stale of world.scenario.volume.stale) {
    world.volume.files.set(stale.name, contentOf(world, stale));
    world.count(`stale: ${stale.is}, of ${stale.of}`);
    if (stale.is === 'alive' && world.volume.canHoldSockets) world.volume.sockets.set(stale.name, NOBODY);
  }
}

/** Leaves a file that is no member's. */
export function drop(world: World, { name, what }: Fault & { do: 'litter' }): void {
  const leftover: Tombstone = { ...base(world, name), Session: 'leftover', Phase: 'running', Born: TIME };
  const contents = { garbage: '{"Version": 1, "Name', empty: '', kubexit: `Born: ${TIME}\n`, leftover };
  if (world.volume.isThere) world.volume.put(name, new Content(contents[what]));
}

const ORIGINS: Readonly<Record<Stale['of'], Partial<Tombstone>>> = {
  'another session': { Session: 'before' },
  'another boot': { Boot: '00000000-0000-4000-8000-000000000000' },
  'an earlier life': {},
};

function contentOf(world: World, { name, is, of }: Stale): Content {
  const times = { Born: TIME, Started: TIME, Healthy: TIME } as const;
  const alive: Tombstone = { ...base(world, name), Phase: 'running', ...times, ...ORIGINS[of] };
  const death = { Died: TIME, DiedMonotonic: 900_000, ExitCode: 0, Reason: 'completed', Final: true } as const;
  const dead: Tombstone = { ...alive, Phase: 'dead', ...death };
  const contents: Readonly<Record<Stale['is'], Tombstone | string>> = {
    dead,
    alive,
    garbage: '\u0000\u0001 not a tombstone',
    empty: '',
    half: formatTombstone(dead).slice(0, 300),
    kubexit: `Born: ${TIME}\n`,
  };
  return new Content(contents[is]);
}

function base(world: World, name: string): Tombstone {
  const role = world.memberNamed(name)?.config.role ?? 'main';
  return { Version: 1, Name: name, Role: role, Boot: world.bootId, Incarnation: `${'e'.repeat(32)}-1` };
}
