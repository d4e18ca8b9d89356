/** A network, and what runs in it beside the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Container } from '../helpers/container.ts';
import { NODE } from '../helpers/paths.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { within } from '../helpers/wait.ts';
import type { Told } from './clients.ts';
import { makeNetwork, type Network } from './network.ts';

export interface Cast {
  readonly network: Network;
  readonly crew: Crew;
}

/** Both are gone when `play` is over. */
export async function withCrew<T>(scratch: Scratch, play: (cast: Cast) => Promise<T>): Promise<T> {
  const network = makeNetwork();
  const crew = new Crew();
  scratch.beforeClear(() => {
    crew.end();
    network.remove();
  });
  try {
    return await play({ network, crew });
  } finally {
    await crew.end();
    network.remove();
  }
}

/** The command of one of `clients.ts`. */
export function client(...args: readonly string[]): readonly string[] {
  return [NODE, join(import.meta.dirname, 'clients.ts'), ...args];
}

export async function stopped(server: Container): Promise<void> {
  await server.signal('SIGTERM');
  await server.exit();
}

/** All that runs beside the server, ended together. */
export class Crew {
  readonly #members: ChildProcess[] = [];

  start([file = '', ...args]: readonly string[]): ChildProcess {
    const member = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#members.push(member);
    return member;
  }

  /** What clients have told so far. */
  told(client: readonly string[]): readonly Told[] {
    const told: Told[] = [];
    const { stdout } = this.start(client);
    if (stdout !== null) createInterface(stdout).on('line', (line) => told.push(JSON.parse(line) as Told));
    return told;
  }

  async end(): Promise<void> {
    const left = this.#members.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = left.map((member) => once(member, 'exit'));
    // A KILL would leave the workers of nginx behind.
    for (const member of left) member.kill('SIGTERM');
    await within('the crew ends', Promise.all(ended));
  }
}
