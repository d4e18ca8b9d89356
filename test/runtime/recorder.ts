/** Runs a supervisor on a host that records each command. The child ignores signals. */
import type { MemberConfig } from '../../src/core/config.ts';
import { SystemClock } from '../../src/runtime/clock.ts';
import type { Commit, Host, HostCommand, HostEvent } from '../../src/runtime/host/host.ts';
import { Log } from '../../src/runtime/log/log.ts';
import { MACHINE } from '../../src/runtime/machine.ts';
import type { Membership } from '../../src/runtime/membership.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { BOOT, HOST_ID } from '../core/helpers.ts';

export const SILENT = new Log({ level: 'silent', format: 'json', member: 'web' });

export function mono(): number {
  return Math.floor(Number(process.hrtime.bigint()) / 1e6);
}

export class Recorder implements Host {
  readonly limits = [];
  readonly commits: Commit[] = [];
  #onCommit: (commit: Commit) => void = () => {};
  #onEvent: (event: HostEvent) => void = () => {};

  async open(onEvent: (event: HostEvent) => void): ReturnType<Host['open']> {
    this.#onEvent = onEvent;
    return { hostId: HOST_ID, startedAt: mono(), memo: undefined, isPid1: true, killed: 0 };
  }

  tell(event: HostEvent): void {
    this.#onEvent(event);
  }

  tellOfStart(): void {
    this.tell({ type: 'spawned', seq: 1, at: mono(), id: 1, pid: 17 });
  }

  tellOfEnd(): void {
    this.tell({ type: 'exited', seq: 2, at: mono(), id: 1, pid: 17, code: 0, signal: undefined, core: false });
    this.tell({ type: 'rootsGone', seq: 3, at: mono(), id: 1 });
  }

  commit(commit: Commit): void {
    this.commits.push(commit);
    this.#onCommit(commit);
  }

  /** What is found in the first commit from now on in which there is something to be found. */
  next<T>(find: (commit: Commit) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      this.#onCommit = (commit) => {
        const found = find(commit);
        if (found !== undefined) resolve(found);
      };
    });
  }

  async close(): Promise<void> {}

  get commands(): readonly HostCommand[] {
    return this.commits.flatMap(({ commands }) => commands);
  }
}

export interface Supervised {
  readonly host: Recorder;
  readonly member: MemberConfig;
  readonly clock?: SystemClock;
  readonly openMembership?: () => Promise<Membership>;
}

/** Resolves when it is wired. */
export function supervise({ host, member, clock = new SystemClock(), openMembership }: Supervised): Promise<void> {
  const hostSetup = { signalTo: 'tree', commands: [] } as const;
  const program = { fromIndex: 0, argv: ['server'] } as const;
  const here = { clock, log: SILENT, bootId: BOOT, machine: MACHINE };
  return new Supervisor({ ...here, member, program, host, hostSetup, openMembership }).start();
}
