/**
 * What a wake costs, where the supervisor has to decide. It is measured from a stop request in the graveyard to the
 * command's handler of TERM, and from the command's KILL to the container's end. Both stand beside bare Node's start,
 * the least that a wake can cost, and beside a supervisor that is awake.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { StopRequest } from '../../../src/core/format/stop-request.ts';
import { hostOf } from '../../../src/core/format/tombstone.ts';
import { leaveRequest } from '../../../src/runtime/graveyard/leave-request.ts';
import { readTombstone } from '../../helpers/tombstone.ts';
import { withContainer } from '../container.ts';
import { Graveyards } from '../graveyards.ts';
import { type Case, type Measurement, Samples } from '../measurement.ts';
import { inGraveyard, memberWords, settled, startMember } from '../member.ts';
import { BARE_NODE, type Subject } from '../subjects.ts';
import { IDLE } from './start.ts';

export const wake: Case = {
  name: 'wake',
  rounds: 12,
  async run({ programs, subjects, rounds }) {
    const [requested, killed] = [new Samples([]), new Samples([])];
    const sexton = subjects.inits.find(({ hasSupervisor }) => hasSupervisor);
    if (sexton === undefined) throw new Error('dist/sexton/sexton is not there: npm run build');
    for (let round = 0; round < rounds; round++) {
      const graveyards = new Graveyards();
      try {
        for (const isAsleep of [false, true]) {
          const name = isAsleep ? ASLEEP : AWAKE;
          const flags = ['--sleep-after', isAsleep ? '500ms' : 'never'];
          requested.add(name, await stopByRequest(programs.first, isAsleep));
          killed.add(name, await endByKill(programs.launch, programs.first, graveyards.member(sexton, name, flags)));
        }
      } finally {
        graveyards.remove();
      }
      const bareNs = await startOfNode(subjects.node);
      for (const samples of [requested, killed]) samples.add(BARE_NODE, bareNs);
    }
    return [
      table("a stop request in the graveyard to the command's handler of TERM", requested),
      table('KILL of the command to the end of the container', killed),
    ];
  },
};

const AWAKE = 'sexton, awake';
const ASLEEP = 'sexton, asleep';

function table(what: string, samples: Samples): Measurement {
  return {
    title: `wake: ${what}`,
    unit: 'ns',
    figures: samples.figures(),
    references: [BARE_NODE],
    aims: [{ subject: ASLEEP, reference: BARE_NODE, atMost: 1.3 }],
    notes: ['bare Node: from its exec to the first line of its script'],
  };
}

function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/** From the exec, as this process sees it, to the first line. */
export async function startOfNode({ before }: Subject, procs?: string): Promise<number> {
  const began = nowNs();
  const { child, record } = startMember({ argv: [...before, '-e', IDLE], env: {} }, procs);
  const firstNs = await record('f');
  child.kill('SIGKILL');
  return firstNs - began;
}

export function stopByRequest(first: string, isAsleep: boolean, procs?: string): Promise<number> {
  return inGraveyard(async (graveyard, start) => {
    const member = start(memberWords(first, graveyard, { name: 'web', isAsleep }), procs);
    await settled(member, graveyard, 'web', isAsleep);
    const began = nowNs();
    const { Boot = '', Incarnation = '' } = readTombstone(graveyard, 'web') ?? {};
    const RequestedMonotonic = began / 1e6;
    const At = new Date().toISOString();
    const request: StopRequest = {
      Version: 1,
      Boot,
      Incarnation: hostOf(Incarnation),
      By: 'bench',
      At,
      RequestedMonotonic,
    };
    const left = await leaveRequest(graveyard, 'web', request);
    if (!left.ok) throw new Error(left.trouble.message);
    const toldNs = await member.record('s');
    member.order();
    await member.ended;
    return toldNs - began;
  });
}

/** In a PID namespace, as PID 1 does not wait there for what the kernel ends with it. */
export async function endByKill(launch: string, first: string, subject: Subject): Promise<number> {
  return withContainer(launch, subject, [first], async (container) => {
    await container.settled();
    await sleep(IDLE_MS);
    const [ns = Number.NaN, status] = await container.ask('killed');
    if (status !== KILLED) throw new Error(`cannot measure ${subject.name}: its status is ${status}`);
    return ns;
  });
}

const KILLED = 137;
const IDLE_MS = 2_000;
