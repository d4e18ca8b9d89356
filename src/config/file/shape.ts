/**
 * Shapes of values in a configuration file. A shape both reads a value and has its JSON Schema, so that the two
 * cannot differ. Every scalar may come as a text, since YAML is read that way.
 */
import { isRecord } from '../../text/record.ts';
import { didYouMean, nearest } from '../notation/nearest.ts';
import { choice, show } from '../notation/parse.ts';

/** Part of a JSON Schema, draft 2020-12. */
export type Schema = { readonly [keyword: string]: unknown };

export interface Shape<T> {
  /** Returns `undefined` for a wrong value, after calling `report`. */
  readonly read: (value: unknown, path: string, report: Report) => T | undefined;
  readonly schema: Schema;
}

/** `value` is missing if the key itself is wrong. */
export type Report = (path: string, why: string, value?: unknown) => undefined;

export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Content<F extends Fields> = { readonly [K in keyof F]?: Shaped<F[K]> };

export interface Rules<F extends Fields> {
  readonly needs?: readonly (keyof F & string)[];
  /** Fields of which there must be exactly one. */
  readonly oneOf?: Partial<F>;
  /** Keys that users expect here, with the reason why they are refused. */
  readonly refused?: Readonly<Record<string, string>>;
}

export function record<F extends Fields>(fields: F, rules: Rules<F> = {}): Shape<Content<F>> {
  const { needs = [], refused = {} } = rules;
  const oneOf = Object.keys(rules.oneOf ?? {});
  return {
    read: (value, path, report) => {
      if (!isRecord(value)) return report(path, mapRemedy(Object.keys(fields), needs, oneOf), value);
      const content: Record<string, unknown> = {};
      let isWhole = true;
      for (const [key, part] of Object.entries(value)) {
        const at = `${path}.${/^[\w-]+$/.test(key) ? key : show(key)}`;
        const shape = Object.hasOwn(fields, key) ? fields[key] : undefined;
        const read = shape === undefined ? report(at, unknownKey(key, fields, refused)) : shape.read(part, at, report);
        if (read === undefined) isWhole = false;
        else content[key] = read;
      }
      const missing = needs.find((key) => !Object.hasOwn(value, key));
      if (isWhole && missing !== undefined) return report(path, `has no ${missing}; add it`);
      const chosen = oneOf.filter((key) => Object.hasOwn(value, key));
      if (isWhole && oneOf.length > 0 && chosen.length !== 1) return report(path, notOne(chosen, oneOf));
      return isWhole ? (content as Content<F>) : undefined;
    },
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([key, { schema }]) => [key, schema])),
      additionalProperties: false,
      ...(needs.length > 0 && { required: needs }),
      ...(oneOf.length > 0 && { oneOf: oneOf.map((key) => ({ required: [key] })) }),
    },
  };
}

export function listOf<T>(item: Shape<T>, example: string, least = 0): Shape<readonly T[]> {
  return {
    read: (value, path, report) => {
      if (!Array.isArray(value) || value.length < least) return report(path, `must be a list; write ${example}`, value);
      const items = value.map((one, index) => item.read(one, `${path}[${index}]`, report));
      return items.some((one) => one === undefined) ? undefined : (items as T[]);
    },
    schema: { type: 'array', items: item.schema, ...(least > 0 && { minItems: least }) },
  };
}

export function wholeNumber(least: number, most: number, example: number): Shape<number> {
  const range = `must be a whole number from ${least} to ${most}; write one such as ${example}`;
  const why = least === most ? `can only be ${least}; leave it out` : range;
  return {
    read: (value, path, report) => {
      const number = typeof value === 'string' && /^-?\d{1,12}$/.test(value) ? Number(value) : value;
      if (Number.isSafeInteger(number) && (number as number) >= least && (number as number) <= most)
        return number as number;
      return report(path, why, value);
    },
    schema: {
      type: ['integer', 'string'],
      minimum: least,
      maximum: most,
      pattern: least > 0 ? '^0*[1-9][0-9]*$' : '^[0-9]+$',
    },
  };
}

/** The most seconds that fit a timer. */
export const MOST = 2_147_483;

export function text(pattern: string, why: string): Shape<string> {
  const rule = new RegExp(pattern, 'u');
  return {
    read: (value, path, report) => {
      return typeof value === 'string' && rule.test(value) ? value : report(path, why, value);
    },
    schema: { type: 'string', pattern },
  };
}

export function oneOfTexts<const T extends string>(words: readonly T[]): Shape<T> {
  return {
    read: (value, path, report) => {
      const word = choice(words)(typeof value === 'string' ? value : '');
      return word.ok ? word.value : report(path, word.why, value);
    },
    schema: { enum: words },
  };
}

/** Takes the first of two shapes that fits; reports the problem with the second. */
export function either<A, B>(one: Shape<A>, other: Shape<B>): Shape<A | B> {
  return {
    read: (value, path, report) => one.read(value, path, () => undefined) ?? other.read(value, path, report),
    schema: { anyOf: [one.schema, other.schema] },
  };
}

export function described<T>(description: string, shape: Shape<T>): Shape<T> {
  return { read: shape.read, schema: { description, ...shape.schema } };
}

function mapRemedy(keys: readonly string[], needs: readonly string[], oneOf: readonly string[]): string {
  if (oneOf.length > 0) return `must be a map with one of ${oneOf.join(', ')}`;
  return `must be a map ${needs.length > 0 ? `with ${needs.join(' and ')}` : `of ${keys.join(', ')}`}`;
}

function unknownKey(key: string, fields: Fields, refused: Readonly<Record<string, string>>): string {
  const reason = Object.hasOwn(refused, key) ? refused[key] : undefined;
  if (reason !== undefined) return reason;
  const keys = Object.keys(fields);
  return `unknown key; ${didYouMean(nearest(key, keys), `keys here are ${keys.join(', ')}`)}`;
}

function notOne(chosen: readonly string[], oneOf: readonly string[]): string {
  if (chosen.length === 0) return `does nothing; add one of ${oneOf.join(', ')}`;
  return `has ${chosen.join(' and ')}, but can do only one thing; keep one of them`;
}
