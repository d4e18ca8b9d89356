/**
 * What every host keeps, driven from outside: the same cases run over sexton-init and over execa. Where a
 * sentence of a host's `limits` excuses it from a case, the case tests that the sentence is true.
 */
import { describe } from 'node:test';
import { childrenContract } from './contract-children.ts';
import { commitsContract } from './contract-commits.ts';
import { helpersContract } from './contract-helpers.ts';
import { livenessContract, modesContract } from './contract-modes.ts';
import { signalsContract } from './contract-signals.ts';
import type { HostKind } from './host-process.ts';

export function hostContract(kind: HostKind): void {
  describe(kind.name, () => {
    childrenContract(kind);
    signalsContract(kind);
    commitsContract(kind);
    livenessContract(kind);
    helpersContract(kind);
    modesContract(kind);
  });
}
