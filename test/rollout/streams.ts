/**
 * A server of long streams behind haproxy is stopped while ten of its streams are open. Which are cut, and how long
 * after the last one does the container end?
 *
 * Streams of 4 to 12 s stand for one to three minutes, at a scale of 1:15. Fixed times of a plan are to be scaled as
 * well; sexton's own times are not.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startContainer } from '../helpers/container.ts';
import { NODE } from '../helpers/paths.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';
import type { Told } from './clients.ts';
import { type Cast, client, stopped, withCrew } from './crew.ts';
import { haproxyIn, PORT, takeOut } from './servers.ts';

export interface StreamPlan {
  /** Flags of sexton; undefined: the server without it. */
  readonly flags: readonly string[] | undefined;
  /** What a pre-stop hook sleeps before the stop request is sent. */
  readonly hookMs?: number;
  /** How long the metrics get no answer, from 2 s after the stop request on. */
  readonly outageMs?: number;
  readonly longestMs: number;
}

export interface StreamOutcome {
  /** Streams of the stopped server, and those that no server answered. */
  readonly asked: number;
  /** Or refused. */
  readonly cut: number;
  readonly tookMs: number;
  /** From the end of the last stream to that of the container. */
  readonly afterLastMs: number;
  readonly log: string;
}

export const METRICS = `http://:${PORT}/metrics,metric=streams_running`;

export function stopAmongStreams(scratch: Scratch, name: string, plan: StreamPlan): Promise<StreamOutcome> {
  return withCrew(scratch, (cast) => play(scratch, join(scratch.dir, name), plan, cast));
}

async function play(scratch: Scratch, home: string, plan: StreamPlan, { network, crew }: Cast): Promise<StreamOutcome> {
  const { flags, hookMs = 0, outageMs, longestMs } = plan;
  const server = startContainer(scratch, {
    name: home,
    ...(flags === undefined ? { bare: true } : { flags: ['--grace-period', '1h', '--log-format', 'json', ...flags] }),
    command: serverOf('a'),
    inside: network.pod,
  });
  crew.start([...network.other, ...serverOf('b')]);
  crew.start([...network.cluster, ...haproxyIn(home, false)]);
  const url = `http://127.0.0.1:${PORT}/`;
  const told = crew.told([...network.cluster, ...client('streams', url, String(longestMs))]);
  await waitFor('ten streams are open', () => {
    if (server.process.exitCode !== null) throw new Error(`the server has ended: ${server.stderr()}`);
    return streamsOf(told).open >= 10;
  });
  const since = performance.now();
  await Promise.all([
    sleep(NOTICES_MS).then(() => takeOut(home)),
    sleep(hookMs).then(() => stopped(server)),
    outageMs === undefined
      ? undefined
      : sleep(OUTAGE_AFTER_MS).then(() =>
          crew.start([...network.pod, ...client('once', `${url}outage?ms=${outageMs}`)]),
        ),
  ]);
  const tookMs = performance.now() - since;
  const endedAt = Date.now();
  await waitFor('all streams of the server have ended', () => streamsOf(told).open === 0);
  const { ended } = streamsOf(told);
  const lastAt = Math.max(...ended.map((it) => it.endedAt ?? 0));
  return {
    asked: ended.length,
    cut: ended.filter(({ ok }) => !ok).length,
    tookMs,
    afterLastMs: endedAt - lastAt,
    log: server.stderr(),
  };
}

/** The balancer goes on sending for so long. */
const NOTICES_MS = 500;
const OUTAGE_AFTER_MS = 2_000;

function serverOf(name: string): readonly string[] {
  return [NODE, join(import.meta.dirname, 'stream-server.mjs'), String(PORT), name];
}

/** What no server answered counts as well. */
function streamsOf(told: readonly Told[]): { readonly open: number; readonly ended: readonly Told[] } {
  const its = told.filter(({ by }) => by !== 'b');
  const ended = its.filter(({ endedAt }) => endedAt !== undefined);
  const begun = its.filter(({ endedAt, by }) => endedAt === undefined && by === 'a');
  return { open: begun.length - ended.filter(({ by }) => by === 'a').length, ended };
}
