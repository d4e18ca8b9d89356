/**
 * A member's stop as a trace: OTLP's JSON, written by hand. A pod has one trace. The ids of the trace and of its root
 * span are derived from the session, so the members agree on them without communicating. In the encoding
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding) ids are in hex, enums are numbers, and integers of
 * 64 bits are strings.
 */
import { createHash } from 'node:crypto';
import type { Stretch } from './bars.ts';
import { type MemberStop, phasesOf } from './stop.ts';
import { nameOf } from './words.ts';

export interface TraceOptions {
  /** What all members of the pod have in common, and no other pod: session and generation. */
  readonly pod: string;
  /** Tells the lives of this member apart. */
  readonly life: string;
  /** Exactly one member sends the root span; undefined: another one does. */
  readonly root: Stretch | undefined;
  readonly summary: string;
  readonly service: string;
  readonly version: string;
}

/** `SPAN_KIND_INTERNAL` and `STATUS_CODE_ERROR` of the protocol. */
const INTERNAL = 1;
const FAILED = 2;

export function traceOf(member: MemberStop, options: TraceOptions): object {
  const { pod, life, root, service, version, summary } = options;
  const rootId = digest(16, 'stop', pod);
  const idOf = (...parts: readonly string[]): string => digest(16, 'span', pod, member.name, life, ...parts);
  const untilMs = member.diedMs ?? member.spans.at(-1)?.untilMs ?? 0;
  const fromMs = Math.min(member.requestedMs ?? untilMs, untilMs);
  const traceId = digest(32, 'trace', pod);
  const span = (spanId: string, name: string, { fromMs, untilMs }: Stretch, more: object): object => {
    const times = { startTimeUnixNano: nanoseconds(fromMs), endTimeUnixNano: nanoseconds(Math.max(fromMs, untilMs)) };
    return { traceId, spanId, kind: INTERNAL, name, ...times, ...more };
  };
  const own = {
    parentSpanId: rootId,
    attributes: memberAttributes(member),
    events: eventsOf(member, fromMs),
    status: statusOf(member, summary),
  };
  const phases = phasesOf(member).map((phase, index) => {
    const about = attributes({ 'sexton.phase': phase.activity, 'sexton.signal': phase.signal });
    return span(idOf(String(index)), nameOf(phase), phase, { parentSpanId: idOf(), attributes: about });
  });
  const spans = [
    ...(root ? [span(rootId, 'stop', root, { attributes: attributes({ 'sexton.session': pod }) })] : []),
    span(idOf(), member.name, { fromMs, untilMs }, own),
    ...phases,
  ];
  const resource = { attributes: attributes({ 'service.name': service, 'service.instance.id': pod }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'sexton', version }, spans }] }] };
}

function memberAttributes(member: MemberStop): readonly object[] {
  const { deadlineMs, diedMs, connections, busy } = member;
  return attributes({
    'sexton.role': member.role,
    'sexton.stop_reason': member.stopReason,
    'sexton.reason': member.reason,
    'sexton.exit_code': member.exitCode,
    'sexton.exit_signal': member.signal,
    'sexton.forced_by': member.forcedBy,
    'sexton.grace_ms': member.graceMs,
    'sexton.grace_left_ms': deadlineMs === undefined || diedMs === undefined ? undefined : deadlineMs - diedMs,
    'sexton.restarts': member.restarts,
    'sexton.drain.connections': connections?.New,
    'sexton.drain.ended': connections?.Ended,
    'sexton.drain.busy_from': busy?.BusyFrom,
    'sexton.drain.busy_to': busy?.BusyTo,
    'sexton.drain.busy_ms': busy?.BusyMs,
  });
}

function eventsOf({ marks }: MemberStop, fromMs: number): readonly object[] {
  return marks
    .filter(({ atMs }) => atMs >= fromMs)
    .map(({ atMs, text }) => ({ timeUnixNano: nanoseconds(atMs), name: text }));
}

function statusOf({ forcedBy, deadlineMs, diedMs }: MemberStop, summary: string): object {
  const isLate = deadlineMs !== undefined && diedMs !== undefined && diedMs > deadlineMs;
  return forcedBy !== undefined || isLate ? { code: FAILED, message: summary } : {};
}

/** A double has microseconds of today's time, no more. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributes(values: Readonly<Record<string, string | number | undefined>>): readonly object[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const isText = typeof value === 'string';
    return [{ key, value: isText ? { stringValue: value } : { intValue: String(Math.round(value)) } }];
  });
}

/** Hex digits; never all zero, which the protocol forbids. */
function digest(digits: number, ...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);
}
