/**
 * `--otlp URL`: sends a trace of this member's stop to a collector, as OTLP over HTTP, before the container ends. It is
 * loaded only where there is such a URL, and then only at the end.
 */
import type { MemberConfig } from '../../../core/config.ts';
import { evidenceOf } from '../../../core/lifecycle/stop/record.ts';
import type { State } from '../../../core/state/state.ts';
import type { Stretch } from '../../../report/bars.ts';
import { stopOfEvidence } from '../../../report/evidence.ts';
import { traceOf } from '../../../report/otlp.ts';
import { type MemberStop, podsOf } from '../../../report/stop.ts';
import { stopOfTombstone } from '../../../report/tombstones.ts';

export interface Sender {
  readonly member: MemberConfig;
  readonly state: State;
  /** The value of OTEL_SERVICE_NAME. */
  readonly service: string;
  readonly version: string;
}

/** Resolves to why the trace was not delivered, in words; undefined: the collector has it. */
export async function sendTrace(
  url: string,
  { member, state, service, version }: Sender,
  mostMs: number,
): Promise<string | undefined> {
  const evidence = evidenceOf(member, state);
  const stop = stopOfEvidence(evidence, { pod: '', workload: '' });
  if (stop === undefined) return undefined;
  const trace = traceOf(stop, {
    pod: podOf(member, state),
    life: `${state.hostId}-${state.births}`,
    root: sendsRoot(member, state) ? rootOf(stop, state) : undefined,
    summary: evidence.Summary,
    service,
    version,
  });
  return await post(url, JSON.stringify(trace), mostMs);
}

/** The pod's name in the trace; a member without a session is alone in its trace. */
function podOf({ session, name }: MemberConfig, { generation, hostId }: State): string {
  if (session === undefined) return `${name}-${hostId}`;
  return generation === undefined ? session : `${session}-${generation}`;
}

/** One member per pod sends the root: the first main by name, or the first of all if no main is known. */
function sendsRoot(member: MemberConfig, { peers }: State): boolean {
  const others = Object.values(peers ?? {}).filter(({ tombstone }) => tombstone.Session === member.session);
  const mains = [
    ...member.mains,
    ...others.filter(({ tombstone }) => tombstone.Role !== 'sidecar').map(({ tombstone }) => tombstone.Name),
    ...(member.role === 'main' ? [member.name] : []),
  ];
  const candidates = mains.length > 0 ? mains : [member.name, ...others.map(({ tombstone }) => tombstone.Name)];
  return candidates.sort()[0] === member.name;
}

/** The span of the pod's stop, as far as this member knows it. */
function rootOf(stop: MemberStop, { peers }: State): Stretch | undefined {
  const now = { ms: stop.diedMs ?? 0 };
  const others = Object.values(peers ?? {}).map(({ tombstone }) => stopOfTombstone(tombstone, now));
  const [pod] = podsOf([stop, ...others.filter(({ session }) => session === stop.session)], now.ms);
  return pod && { fromMs: pod.beganMs, untilMs: pod.endedMs };
}

async function post(url: string, body: string, mostMs: number): Promise<string | undefined> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const signal = AbortSignal.timeout(mostMs);
  return await new Promise((resolve) => {
    const call = request(url, { method: 'POST', headers, signal, agent: false }, (response) => {
      const { statusCode = 0 } = response;
      response.destroy();
      resolve(statusCode >= 200 && statusCode < 300 ? undefined : `it answers ${statusCode}`);
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      resolve(signal.aborted ? `no answer within ${mostMs} ms` : (error.code ?? error.message));
    });
    call.end(body);
  });
}
