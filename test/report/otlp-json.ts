/**
 * Reads a request of OTLP's JSON as a strict receiver does, by opentelemetry.proto.collector.trace.v1 and trace.v1. Ids
 * are hex, enums are numbers, and integers of 64 bits are decimal strings. It refuses a field that is not in the
 * protocol.
 */
import assert from 'node:assert/strict';

export interface SpanJson {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly isFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

type Json = Readonly<Record<string, unknown>>;

export function spansOf(request: unknown): readonly SpanJson[] {
  const { resourceSpans } = fields(request, ['resourceSpans']);
  return list(resourceSpans).flatMap((item) => {
    const { resource, scopeSpans } = fields(item, ['resource', 'scopeSpans', 'schemaUrl']);
    const about = attributesOf(fields(resource, ['attributes', 'droppedAttributesCount']).attributes);
    assert.ok(typeof about['service.name'] === 'string' && about['service.name'] !== '');
    return list(scopeSpans).flatMap((one) => {
      const { scope, spans } = fields(one, ['scope', 'spans', 'schemaUrl']);
      const { name } = fields(scope, ['name', 'version', 'attributes', 'droppedAttributesCount']);
      assert.equal(name, 'sexton');
      return list(spans).map(spanOf);
    });
  });
}

const SPAN_FIELDS = [
  'traceId',
  'spanId',
  'traceState',
  'parentSpanId',
  'flags',
  'name',
  'kind',
  'startTimeUnixNano',
  'endTimeUnixNano',
  'attributes',
  'droppedAttributesCount',
  'events',
  'droppedEventsCount',
  'links',
  'droppedLinksCount',
  'status',
] as const;

function spanOf(value: unknown): SpanJson {
  const span = fields(value, SPAN_FIELDS);
  const traceId = id(span.traceId, 32);
  const spanId = id(span.spanId, 16);
  const parentSpanId = span.parentSpanId === undefined ? undefined : id(span.parentSpanId, 16);
  assert.ok(typeof span.name === 'string' && span.name !== '');
  assert.ok(Number.isInteger(span.kind) && Number(span.kind) >= 0 && Number(span.kind) <= 5, 'an enum is a number');
  const [startNs, endNs] = [integer(span.startTimeUnixNano), integer(span.endTimeUnixNano)];
  assert.ok(startNs > 0n && endNs >= startNs);
  for (const event of span.events === undefined ? [] : list(span.events)) {
    const { timeUnixNano, name } = fields(event, ['timeUnixNano', 'name', 'attributes', 'droppedAttributesCount']);
    assert.ok(integer(timeUnixNano) > 0n && typeof name === 'string');
  }
  const { code = 0, message } = span.status === undefined ? {} : fields(span.status, ['message', 'code']);
  assert.ok([0, 1, 2].includes(code as number));
  assert.ok(message === undefined || (typeof message === 'string' && code === 2));
  return {
    traceId,
    spanId,
    parentSpanId,
    name: span.name,
    startNs,
    endNs,
    isFailed: code === 2,
    attributes: attributesOf(span.attributes ?? []),
  };
}

function attributesOf(value: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const item of list(value)) {
    const { key, value: any } = fields(item, ['key', 'value']);
    assert.ok(typeof key === 'string' && key !== '' && !(key in found));
    const { stringValue, intValue } = fields(any, ['stringValue', 'intValue']);
    assert.ok((typeof stringValue === 'string') !== (intValue !== undefined), 'one of them');
    if (intValue !== undefined) integer(intValue);
    found[key] = stringValue ?? intValue;
  }
  return found;
}

function id(value: unknown, digits: number): string {
  assert.ok(
    typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value) && /[^0]/.test(value),
    String(value),
  );
  return value;
}

function integer(value: unknown): bigint {
  assert.ok(typeof value === 'string' && /^-?(0|[1-9]\d*)$/.test(value), `64 bits are a string: ${value}`);
  return BigInt(value);
}

function list(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value));
  return value;
}

function fields(value: unknown, names: readonly string[]): Json {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value));
  for (const [key, field] of Object.entries(value)) {
    assert.ok(names.includes(key), `${key} is no field of it`);
    assert.ok(field !== null, key);
  }
  return value as Json;
}
