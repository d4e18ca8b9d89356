/**
 * Who is to be asked: all of the graveyard, or those that were named.
 */
import { hostOf } from '../core/incarnation.ts';
import type { Tombstone } from '../core/tombstone.ts';
import type { Members } from '../runtime/graveyard/members.ts';
import type { Unreadable } from '../runtime/graveyard/read.ts';
import { nearest } from './nearest.ts';
import { wrong } from './stop-arguments.ts';

/** A member as it was found, in one life of its container. */
export interface Target {
  readonly name: string;
  readonly boot: string;
  readonly host: string;
}

export interface Targets {
  readonly alive: readonly Target[];
  /** Named, but dead already. */
  readonly dead: readonly Tombstone[];
  /** Alive as far as can be told, but kubexit's, which reads no requests. */
  readonly deaf: readonly string[];
  /** Of `alive` those of whom that is not known, and by which error. */
  readonly doubtful: readonly Unreadable[];
}

/** A container may be shown a boot id of its own (LXC, systemd-nspawn): whoever is held is of this kernel, whatever it says. */
export function pickTargets({ members, held, unknown }: Members, names: readonly string[], boot: string): Targets {
  const known = members.map(({ Name }) => Name);
  for (const name of names) if (!known.includes(name)) throw wrong(notThere(name, known));
  const meant = members.filter(({ Name }) => names.length === 0 || names.includes(Name));
  const living = meant.filter(({ Died, Reason }) => Died === undefined && Reason !== 'lost');
  const deaf = living.filter(({ Version }) => Version === 0).map(({ Name }) => Name);
  if (names.length > 0 && deaf.length > 0) throw wrong(`${cannotBeAsked(deaf)}; stop its container instead`);
  const alive = living.flatMap(({ Name, Boot, Incarnation }) =>
    Boot !== undefined && (Boot === boot || held.has(Name)) && Incarnation !== undefined
      ? [{ name: Name, boot: Boot, host: hostOf(Incarnation) }]
      : [],
  );
  if (alive.length === 0 && deaf.length > 0) throw wrong(`${cannotBeAsked(deaf)}, and nobody else is alive`);
  const dead = names.length === 0 ? [] : meant.filter(({ Name }) => !alive.some(({ name }) => name === Name));
  const doubtful = unknown.filter(({ name }) => alive.some((target) => target.name === name));
  return { alive, dead, deaf, doubtful };
}

export function cannotBeAsked(names: readonly string[]): string {
  return `${names.join(', ')} cannot be asked: run by kubexit, which knows no requests`;
}

function notThere(name: string, known: readonly string[]): string {
  if (known.length === 0) return `${name}: the graveyard is empty`;
  const near = nearest(name, known);
  return `${name}: no such member; ${near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`}`;
}
