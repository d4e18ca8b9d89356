/** Reloads in a configuration file: a text as the flag takes it, a map with its parts apart, or a list of these. */
import type { Reload } from '../../core/config.ts';
import { isRecord } from '../../text/record.ts';
import { good, type Parse } from '../notation/parse.ts';
import { parseReloads, parseValidate, readReload } from '../notation/reload.ts';
import { described, either, listOf, type Report, record, type Shaped, text } from './shape.ts';

const line = described(
  'PATH=SIGNAL or PATH=SIGNAL,validate=COMMAND; several on a line each.',
  text('^\\s*/[^\\u0000]*=[A-Za-z0-9]', 'must be a path with a signal; write /etc/app.conf=HUP'),
);
const parts = record(
  {
    path: text('^/[^\\u0000]*$', 'must be an absolute path; write one such as /etc/app.conf'),
    signal: text('^[A-Za-z0-9+-]+$', 'must be a signal; write one such as HUP'),
    validate: described(
      'Must exit with 0, or the signal is not sent.',
      either(
        listOf(text('^[^\\u0000]*$', 'must be a string'), '[nginx, -t]', 1),
        text('\\S', 'must be a command; write [nginx, -t]'),
      ),
    ),
  },
  { needs: ['path', 'signal'] },
);
const one = either(line, parts);

const LIST_EXAMPLE = '[/etc/app.conf=HUP]';

export const RELOAD = either(line, either(parts, listOf(one, LIST_EXAMPLE, 1)));

export function readReloads(value: unknown, path: string, report: Report): readonly Reload[] | undefined {
  const shaped = shapeOf(value).read(value, path, report);
  if (shaped === undefined) return undefined;
  const items = Array.isArray(shaped) ? (shaped as readonly Shaped<typeof one>[]) : [shaped as Shaped<typeof one>];
  const reloads: Reload[] = [];
  for (const [index, item] of items.entries()) {
    const parsed = typeof item === 'string' ? parseReloads(item) : readParts(item);
    const at = Array.isArray(shaped) ? `${path}[${index}]` : path;
    if (parsed.ok) reloads.push(...parsed.value);
    else report(at, parsed.why, typeof item === 'string' ? item : undefined);
  }
  return reloads;
}

/** The shape that was meant, so that the message is about that one. */
function shapeOf(value: unknown) {
  if (!Array.isArray(value)) return isRecord(value) ? parts : line;
  return listOf<Shaped<typeof one>>(value.every((item) => typeof item === 'string') ? line : one, LIST_EXAMPLE, 1);
}

function readParts({ path = '', signal = '', validate }: Shaped<typeof parts>): Parse<readonly Reload[]> {
  const reload = readReload(path, signal, validate === undefined ? good(undefined) : readValidate(validate));
  return reload.ok ? good([reload.value]) : reload;
}

function readValidate(validate: string | readonly string[]): Parse<Reload['validate']> {
  if (typeof validate === 'string') return parseValidate(validate);
  const [program = '', ...args] = validate;
  return program === '' ? parseValidate('') : good({ kind: 'exec', argv: [program, ...args] });
}
