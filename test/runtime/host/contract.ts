/** The same cases over sexton-init and execa. Where a sentence of `limits` excuses a case, it tests that sentence. */
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
