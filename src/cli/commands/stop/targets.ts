/**
 * The members that `sexton stop` asks: all in the graveyard, or those that were named.
 */

import { nearest } from '../../../config/notation/nearest.ts';
import type { Tombstone } from '../../../core/format/tombstone.ts';
import { hostOf } from '../../../core/format/tombstone.ts';
import type { Members } from '../../../runtime/graveyard/members.ts';
import type { Unreadable } from '../../../runtime/graveyard/read.ts';
import type { SextonError } from '../../../text/errors.ts';
import { badArguments } from '../arguments.ts';

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
  /** Alive as far as is known, but run by kubexit, which reads no requests. */
  readonly deaf: readonly string[];
  /** Those of `alive` whose liveness cannot be asked, and by which error. */
  readonly doubtful: readonly Unreadable[];
}

/**
 * A container may have a boot id of its own (LXC, systemd-nspawn). So a member whose handle is held runs on this
 * kernel, whatever boot id it wrote.
 */
export function pickTargets(
  { members, held, unknown }: Members,
  names: readonly string[],
  boot: string,
  subcommand: 'stop' | 'restart' = 'stop',
): Targets {
  const badRequest = (problem: string): SextonError => badArguments(subcommand, problem);
  const known = members.map(({ Name }) => Name);
  for (const name of names) if (!known.includes(name)) throw badRequest(notThere(name, known));
  const meant = members.filter(({ Name }) => names.length === 0 || names.includes(Name));
  const living = meant.filter(({ Died, Reason }) => Died === undefined && Reason !== 'lost');
  const deaf = living.filter(({ Version }) => Version === 0).map(({ Name }) => Name);
  if (names.length > 0 && deaf.length > 0)
    throw badRequest(`${cannotBeAsked(deaf, subcommand)}; ${subcommand} its container instead`);
  const alive = living.flatMap(({ Name, Boot, Incarnation }) =>
    Boot !== undefined && (Boot === boot || held.has(Name)) && Incarnation !== undefined
      ? [{ name: Name, boot: Boot, host: hostOf(Incarnation) }]
      : [],
  );
  if (alive.length === 0 && deaf.length > 0)
    throw badRequest(`${cannotBeAsked(deaf, subcommand)}, and no other member is alive`);
  const dead = names.length === 0 ? [] : meant.filter(({ Name }) => !alive.some(({ name }) => name === Name));
  const doubtful = unknown.filter(({ name }) => alive.some((target) => target.name === name));
  return { alive, dead, deaf, doubtful };
}

export function cannotBeAsked(names: readonly string[], subcommand: 'stop' | 'restart' = 'stop'): string {
  return `${names.join(', ')} cannot be asked to ${subcommand}: run by kubexit, which reads no requests`;
}

function notThere(name: string, known: readonly string[]): string {
  if (known.length === 0) return `${name}: the graveyard is empty`;
  const near = nearest(name, known);
  return `unknown member ${name}; ${near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`}`;
}
