/** Runs random lives of a member in a pod whose mains are known, and shows each step to a check. */
import fc from 'fast-check';
import type { MemberConfig } from '../../src/core/config.ts';
import { NAMES, peers } from './arbitraries.ts';
import { anything, member, performAny, script } from './arbitraries-actions.ts';
import { alive } from './helpers.ts';
import { Life, type Step } from './life.ts';
import '../helpers/seeded.ts';

/** The liveness socket of a main, to which the host holds a connection. */
export const socketOf = (name: string): string => `/g/.${name}.sock`;

const livingMains = fc
  .subarray([...NAMES])
  .map((names) => names.map((name, n) => alive(name, { Incarnation: `${String(n).repeat(32)}-1` })));

/** `simple`: members that need no supervisor in a stop, as half of the random ones. */
export function inEveryLife(
  simple: fc.Arbitrary<MemberConfig>,
  numRuns: number,
  check: (config: MemberConfig, step: Step) => void,
): void {
  fc.assert(
    fc.property(
      fc.oneof(member, simple),
      script,
      fc.oneof(peers, livingMains),
      anything,
      (config, child, found, todo) => {
        const life = new Life({ config, child, peers: found, observe: (step) => check(config, step) });
        for (const action of todo) performAny(life, action);
      },
    ),
    { numRuns },
  );
}
