/** Stop order is the reverse of start order, by `StartAfter`; a sidecar stops also after all mains. */
import type { MemberConfig } from '../config.ts';
import { MAINS_FINISHED, type State, type Stop } from '../state/state.ts';
import { earliest } from '../time.ts';
import { holdsUp, mainsServed } from './finished.ts';
import { peerNamed, standingOf } from './standing.ts';

/** The members that must be dead before this one stops, and when time alone may change that. */
export function blockersOf(
  config: MemberConfig,
  state: State,
  stop: Pick<Stop, 'reason' | 'among'> | undefined = state.stop,
): { readonly names: readonly string[]; readonly untilMs: number | undefined } {
  const peers = state.peers ?? {};
  const mains = config.role === 'sidecar' ? mainsServed(config, state) : [];
  // With `any`, one finished main is enough: the other mains are no reason to wait.
  const quorumIsEnough = stop?.reason === MAINS_FINISHED && config.when === 'any';
  const needed = new Set(quorumIsEnough ? [] : mains);
  for (const [name, peer] of Object.entries(peers)) {
    // A sidecar that started after a main still ends after it: otherwise each would wait for the other.
    const isServant = config.role === 'main' && peer.tombstone.Role === 'sidecar';
    const dependsOnUs = !isServant && (peer.tombstone.StartAfter?.includes(config.name) ?? false);
    if (dependsOnUs && !(quorumIsEnough && mains.includes(name))) needed.add(name);
  }
  const { among } = stop ?? {};
  const waitedFor = [...needed].filter((name) => among === undefined || among.includes(name));
  const standings = waitedFor.map((name) => ({ name, standing: standingOf(config, state, peerNamed(state, name)) }));
  const unsure = standings.flatMap(({ standing }) => (standing.is === 'unsure' ? [standing.untilMs] : []));
  return {
    names: standings.filter(({ standing }) => holdsUp(standing)).map(({ name }) => name),
    untilMs: earliest(...unsure),
  };
}

/** A circle of start gates through this member, by names from us back to us; undefined: none. */
export function cycleThrough(config: MemberConfig, state: State): readonly string[] | undefined {
  const after = (name: string): readonly string[] => {
    if (name === config.name) return config.startAfter.map((gate) => gate.name);
    const peer = peerNamed(state, name);
    // Tombstones of an earlier life of the volume are no reason to refuse this one.
    const counts = ['waiting', 'alive'].includes(standingOf(config, state, peer).is);
    return counts ? (peer?.tombstone.StartAfter ?? []) : [];
  };
  const seen = new Set<string>();
  const queue: { name: string; path: readonly string[] }[] = [{ name: config.name, path: [config.name] }];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
    for (const next of after(item.name)) {
      const path = [...item.path, next];
      if (next === config.name) return path;
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push({ name: next, path });
    }
  }
  return undefined;
}
