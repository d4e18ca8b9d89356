/**
 * Reads a request of OTLP's JSON as a strict receiver does, by a schema of opentelemetry.proto.collector.trace.v1 and
 * trace.v1. Ids are in hex, enums are numbers, integers of 64 bits are decimal strings, and no other field is there.
 */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';

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

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

interface Span extends Pick<SpanJson, 'traceId' | 'spanId' | 'parentSpanId' | 'name'> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code?: number };
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

type Fields = Readonly<Record<string, object>>;

function message(required: Fields, optional: Fields = {}): object {
  const properties = { ...required, ...optional };
  return { type: 'object', properties, required: Object.keys(required), additionalProperties: false };
}

const list = (items: object): object => ({ type: 'array', items });
const id = (digits: number): object => ({ type: 'string', pattern: `^(?!0+$)[0-9a-f]{${digits}}$` });
const text = { type: 'string' };
const name = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 0 };
const time = { type: 'string', pattern: '^[1-9][0-9]*$' };
const value = {
  oneOf: [message({ stringValue: text }), message({ intValue: { ...text, pattern: '^-?(0|[1-9]\\d*)$' } })],
};
const attributes = list(message({ key: name, value }));
const event = message({ timeUnixNano: time, name: text }, { attributes, droppedAttributesCount: count });
const status = {
  ...message({}, { message: text, code: { enum: [0, 1, 2] } }),
  anyOf: [{ not: { required: ['message'] } }, { required: ['code'], properties: { code: { const: 2 } } }],
};
const span = message(
  {
    traceId: id(32),
    spanId: id(16),
    name,
    kind: { enum: [0, 1, 2, 3, 4, 5] },
    startTimeUnixNano: time,
    endTimeUnixNano: time,
  },
  {
    ...{ traceState: text, parentSpanId: id(16), flags: count, attributes, droppedAttributesCount: count },
    ...{ events: list(event), droppedEventsCount: count, links: list({}), droppedLinksCount: count, status },
  },
);
const scope = message({ name: { const: 'sexton' } }, { version: text, attributes, droppedAttributesCount: count });
const scopeSpans = list(message({ scope, spans: list(span) }, { schemaUrl: text }));
const resource = message({ attributes }, { droppedAttributesCount: count });
const resourceSpans = list(message({ resource, scopeSpans }, { schemaUrl: text }));
const isRequest = new Ajv2020({ strictTypes: false }).compile<Request>(message({ resourceSpans }));

export function spansOf(request: unknown): readonly SpanJson[] {
  assert.ok(isRequest(request), JSON.stringify(isRequest.errors));
  return request.resourceSpans.flatMap((item) => {
    assert.notEqual(attributesOf(item.resource.attributes)['service.name'] ?? '', '');
    return item.scopeSpans.flatMap(({ spans }) => spans.map(spanOf));
  });
}

function spanOf({
  startTimeUnixNano,
  endTimeUnixNano,
  status: { code } = {},
  attributes: about = [],
  ...more
}: Span): SpanJson {
  const [startNs, endNs] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
  assert.ok(endNs >= startNs);
  return { ...more, startNs, endNs, isFailed: code === 2, attributes: attributesOf(about) };
}

function attributesOf(all: readonly Attribute[]): Readonly<Record<string, unknown>> {
  const found = Object.fromEntries(all.map(({ key, value: any }) => [key, any.stringValue ?? any.intValue]));
  assert.equal(Object.keys(found).length, all.length);
  return found;
}
