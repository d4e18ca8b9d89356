/**
 * One server of two behind a load balancer is stopped under constant load, and the balancer takes its time to notice.
 * The same happens on every node of a cluster when a pod is deleted. How many requests fail, and how long does the pod
 * take?
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startContainer } from '../helpers/container.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Told } from './clients.ts';
import { type Cast, type Crew, client, stopped, withCrew } from './crew.ts';
import { type Network, NODE_ADDRESS, POD } from './network.ts';
import { haproxyIn, nginxIn, PORT, takeOut } from './servers.ts';

export const COMPANIES = ['alone', 'keep-alive', 'probe', 'scrape', 'neighbour'] as const;
/** What there is besides clients that open a connection for each request. */
export type Company = (typeof COMPANIES)[number];

export interface Plan {
  /** The value of `--drain`; undefined: nginx without sexton. */
  readonly drain: string | undefined;
  /** How long the balancer goes on sending after the stop request. */
  readonly noticesAfterMs: number;
  readonly company: Company;
}

export interface Outcome {
  readonly asked: number;
  readonly failed: number;
  /** From the stop request to the end of the container. */
  readonly tookMs: number;
  readonly log: string;
}

export function experiment(scratch: Scratch, name: string, plan: Plan): Promise<Outcome> {
  return withCrew(scratch, (cast) => play(scratch, join(scratch.dir, name), plan, cast));
}

async function play(scratch: Scratch, home: string, plan: Plan, { network, crew }: Cast): Promise<Outcome> {
  const { drain, noticesAfterMs, company } = plan;
  const server = startContainer(scratch, {
    name: home,
    ...(drain === undefined ? { bare: true } : { flags: [...FLAGS, '--drain', drain] }),
    command: nginxIn(join(home, 'a'), 'a'),
    inside: network.pod,
  });
  crew.start([...network.other, ...nginxIn(join(home, 'b'), 'b')]);
  crew.start([...network.cluster, ...haproxyIn(join(home, 'lb'), company === 'keep-alive')]);
  const kind = company === 'keep-alive' ? 'keep-alive' : 'fresh';
  const load = crew.told([...network.cluster, ...client('load', `http://127.0.0.1:${PORT}/`, kind)]);
  await waitFor('both servers serve', () => {
    if (server.process.exitCode !== null) throw new Error(`the server has ended: ${server.stderr()}`);
    return ['a', 'b'].every((name) => servedBy(load, name) > ENOUGH);
  });
  accompany(crew, network, company);
  await sleep(BEFORE_MS);
  const since = { mono: performance.now(), wall: Date.now() };
  const [, tookMs] = await Promise.all([
    sleep(noticesAfterMs).then(() => takeOut(join(home, 'lb'))),
    stopped(server).then(() => performance.now() - since.mono),
  ]);
  await sleep(AFTER_MS);
  const asked = load.filter(({ at }) => at >= since.wall);
  return { asked: asked.length, failed: asked.filter(({ ok }) => !ok).length, tookMs, log: server.stderr() };
}

const FLAGS = ['--stop', 'QUIT', '--grace-period', '1h', '--log-format', 'json'];
const ENOUGH = 40;
/** So that probes and scrapes are under way. */
const BEFORE_MS = 1_500;
/** The last requests still get their answers. */
const AFTER_MS = 500;

function servedBy(load: readonly Told[], name: string): number {
  return load.filter(({ ok, by }) => ok && by === name).length;
}

function accompany(crew: Crew, network: Network, company: Company): void {
  const url = `http://${POD}:${PORT}/`;
  if (company === 'probe') crew.start([...network.cluster, ...client('probe', url, NODE_ADDRESS)]);
  if (company === 'scrape') crew.start([...network.cluster, ...client('scrape', url, NODE_ADDRESS)]);
  if (company === 'neighbour') crew.start([...network.pod, ...client('neighbour', `http://127.0.0.1:${PORT}/`)]);
}
