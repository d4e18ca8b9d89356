/**
 * A member's stop as a trace: OTLP's JSON, written by hand. One trace a pod: its id is made from the session, so that
 * members meet in it without talking, and so is the id of the root span.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: ids are in hex, enums are numbers, and integers of
 * 64 bits are strings.
 */
import { createHash } from 'node:crypto';
import { type MemberStop, type Span, stopOfMember } from './stop.ts';
import { nameOf } from './words.ts';

export interface TraceOptions {
  /** What all members of the pod have in common, and no other pod: session and generation. */
  readonly pod: string;
  /** Tells the lives of this member apart. */
  readonly life: string;
  /** Exactly one member sends the root span; undefined: another one does. */
  readonly root: { readonly fromMs: number; readonly untilMs: number } | undefined;
  readonly summary: string;
  readonly service: string;
  readonly version: string;
}

/** `SPAN_KIND_INTERNAL` and `STATUS_CODE_ERROR` of the protocol. */
const INTERNAL = 1;
const FAILED = 2;

export function traceOf(member: MemberStop, options: TraceOptions): object {
  const { pod, life, root, service, version } = options;
  const traceId = digest(32, 'trace', pod);
  const rootId = digest(16, 'stop', pod);
  const idOf = (...parts: readonly string[]): string => digest(16, 'span', pod, member.name, life, ...parts);
  const { fromMs, untilMs, phases } = stopOfMember(member);
  const common = { traceId, kind: INTERNAL };
  const spans = [
    ...(root === undefined
      ? []
      : [
          {
            ...common,
            spanId: rootId,
            name: 'stop',
            ...timesOf(root),
            attributes: attributes({ 'sexton.session': pod }),
          },
        ]),
    {
      ...common,
      spanId: idOf(),
      parentSpanId: rootId,
      name: member.name,
      ...timesOf({ fromMs, untilMs }),
      attributes: memberAttributes(member),
      events: eventsOf(member, fromMs),
      status: statusOf(member, options.summary),
    },
    ...phases.map((phase, index) => ({
      ...common,
      spanId: idOf(String(index)),
      parentSpanId: idOf(),
      name: nameOf(phase),
      ...timesOf(phase),
      attributes: attributes({ 'sexton.phase': phase.activity, 'sexton.signal': phase.signal }),
    })),
  ];
  const scope = { name: 'sexton', version };
  const resource = { attributes: attributes({ 'service.name': service, 'service.instance.id': pod }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] };
}

function memberAttributes(member: MemberStop): readonly object[] {
  const { role, stopReason, reason, exitCode, signal, forcedBy, graceMs, restarts, connections } = member;
  return attributes({
    'sexton.role': role,
    'sexton.stop_reason': stopReason,
    'sexton.reason': reason,
    'sexton.exit_code': exitCode,
    'sexton.exit_signal': signal,
    'sexton.forced_by': forcedBy,
    'sexton.grace_ms': graceMs,
    'sexton.grace_left_ms':
      member.deadlineMs === undefined || member.diedMs === undefined ? undefined : member.deadlineMs - member.diedMs,
    'sexton.restarts': restarts,
    'sexton.drain.connections': connections?.New,
    'sexton.drain.ended': connections?.Ended,
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

function timesOf({ fromMs, untilMs }: Pick<Span, 'fromMs' | 'untilMs'>): object {
  return { startTimeUnixNano: nanoseconds(fromMs), endTimeUnixNano: nanoseconds(Math.max(fromMs, untilMs)) };
}

/** A double has microseconds of today's time, no more. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributes(values: Readonly<Record<string, string | number | undefined>>): readonly object[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [
      { key, value: typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) } },
    ];
  });
}

/** Hex digits; never all zero, which the protocol forbids. */
function digest(digits: number, ...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);
}
