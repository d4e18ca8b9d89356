/**
 * `sexton schema` prints the JSON Schema (draft 2020-12) of a configuration file. It comes from the table of flags and
 * the shapes of a container, by which the file is read. An editor completes and checks the file with it:
 *
 *     # yaml-language-server: $schema=sexton.schema.json
 */
import { CONTAINER } from '../../config/file/container.ts';
import { PLATFORM_KEYS, takesList } from '../../config/file/keys.ts';
import { RELOAD } from '../../config/file/reload.ts';
import { MOST, type Schema } from '../../config/file/shape.ts';
import { defaultTextOf, FLAGS, fileKeyOf, KEYS, type Key } from '../../config/flags.ts';
import { show } from '../../config/notation/parse.ts';
import { reportSchema } from '../../report/plain.ts';
import { printJson } from '../../text/print.ts';
import { badArguments, readArguments } from './arguments.ts';

export async function schema(args: readonly string[]): Promise<void> {
  const [word] = readArguments('schema', args, 1).words;
  if (word !== undefined && word !== 'report')
    throw badArguments('schema', `${show(word)}: must be report, or nothing`);
  await printJson(word === 'report' ? reportSchema() : configSchema());
}

export function configSchema(): Schema {
  const own = KEYS.map((key): readonly [string, Schema] => [
    fileKeyOf(key),
    { ...descriptionOf(key), ...valueSchema(key) },
  ]);
  const pods = Object.entries(CONTAINER).map(([key, shape]): readonly [string, Schema] => [key, shape.schema]);
  const platform = PLATFORM_KEYS.map((key): readonly [string, Schema] => [key, { description: NO_EFFECT }]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:sexton:config',
    title: 'sexton configuration',
    description: 'The file of --config: a container of a Pod where Kubernetes has the field, and keys of sexton.',
    type: 'object',
    properties: { ...COMMAND_KEYS, ...Object.fromEntries([...own, ...pods, ...platform]) },
    additionalProperties: false,
    allOf: [...KEYS.flatMap(notTwice), ARGS_NEED_COMMAND],
  };
}

const NO_EFFECT = "The platform's; no effect here but a warning.";

const TEXTS = { type: 'array', items: { type: 'string', pattern: '^[^\\u0000]*$' } };
const COMMAND_KEYS: Readonly<Record<string, Schema>> = {
  $schema: { description: 'Where an editor finds this schema.' },
  command: { description: 'The command, as in a Pod; one on the command line replaces it.', ...TEXTS, minItems: 1 },
  args: { description: 'Its arguments, as in a Pod.', ...TEXTS },
};
const ARGS_NEED_COMMAND: Schema = {
  if: { required: ['args'], properties: { args: { minItems: 1 } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['command'] },
};

function descriptionOf(key: Key): Schema {
  const { help, default: value, name } = FLAGS[key];
  return {
    description: `${help} Default: ${defaultTextOf(key)}. As --${name}.`,
    ...(typeof value === 'string' && { default: value }),
  };
}

/** The kind of value only: the notation of a text is the parser's, and `sexton explain` checks it. */
function valueSchema(key: Key): Schema {
  if (key === 'reload') return RELOAD.schema;
  const { choices, fileSeconds, pairs, pairsOfLists } = FLAGS[key];
  if (choices !== undefined) return { enum: choices };
  if (fileSeconds) return { type: ['integer', 'string'], minimum: 1, maximum: MOST, pattern: '^0*[1-9][0-9]*$' };
  const list = { type: 'array', items: SCALAR, minItems: 1 };
  const more: Schema[] = takesList(key) ? [list] : [];
  if (pairs !== undefined) {
    const additionalProperties = pairsOfLists ? { anyOf: [SCALAR, list] } : SCALAR;
    more.push({ type: 'object', additionalProperties, minProperties: 1 });
  }
  return more.length === 0 ? SCALAR : { anyOf: [SCALAR, ...more] };
}

const SCALAR: Schema = { type: ['string', 'number', 'boolean'], minLength: 1 };

/** A probe or a hook is a text or in the shape of a Pod, not both. */
function notTwice(key: Key): readonly Schema[] {
  const { podKey } = FLAGS[key];
  if (podKey === undefined) return [];
  const [outer = '', inner] = podKey.split('.');
  const nested = inner === undefined ? {} : { properties: { [outer]: { type: 'object', required: [inner] } } };
  return [{ not: { required: [key, outer], ...nested } }];
}
