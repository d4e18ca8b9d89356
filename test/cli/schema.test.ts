/** The JSON Schema of a configuration file against the parser, by a checker of schemas that is not ours. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { configSchema } from '../../src/cli/commands/schema.ts';
import { FLAGS, fileKeyOf, KEYS } from '../../src/config/flags.ts';
import { resolveRun } from '../../src/config/resolve.ts';
import { filesOf } from '../config/files.ts';
import '../helpers/seeded.ts';
import { SCHEMA_FILES } from './schema-files.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
const isRight = ajv.compile(configSchema());

async function problemsOf(path: string, text: string, hasCommand: boolean): Promise<readonly string[]> {
  const argv = ['--config', path, ...(hasCommand ? [] : ['--', 'app'])];
  const resolution = await resolveRun(argv, {}, filesOf({ [path]: text }));
  return resolution.ok ? [] : resolution.problems;
}

describe('the JSON Schema and the parser agree', () => {
  for (const { content, is } of SCHEMA_FILES) {
    it(`the schema and the parser agree that ${JSON.stringify(content)} is ${is === 'right' ? 'right' : 'wrong'}${is === 'unseen' ? ', which only the parser sees' : ''}`, async () => {
      const hasCommand = 'command' in content || 'args' in content;
      const inJson = await problemsOf('/c.json', JSON.stringify(content), hasCommand);
      const inYaml = await problemsOf('/c.yaml', stringify(content), hasCommand);
      assert.equal(inJson.length, is === 'right' ? 0 : 1, inJson.join('\n'));
      // In YAML every scalar is its text, so a list of words may hold a number.
      if (!JSON.stringify(content).includes('["a",5]')) assert.equal(inYaml.length, inJson.length, inYaml.join('\n'));
      assert.equal(isRight(content), is !== 'wrong', JSON.stringify(isRight.errors));
    });
  }

  it('on any text for any key, but for what a schema cannot say', () => {
    const SIGNS = 'TERM KILL SIGINT rtmin+3 15 9 0 5 s ms m 1h : = , - ? / a'.split(' ');
    const WORDS = 'none always keep started healthy exec: http tcp :// :80 [::1] sleep: .'.split(' ');
    const token = fc.constantFrom(...SIGNS, ...WORDS, ' ');
    const text = fc.array(token, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.constantFrom(...KEYS), text, (key, one) => {
        if (FLAGS[key].fileSeconds) return;
        // Never stricter than the parser: an editor that marks a right value teaches people to ignore it.
        if (FLAGS[key].parse(one).ok) assert.ok(isRight({ [fileKeyOf(key)]: one }), `${key}: ${JSON.stringify(one)}`);
      }),
      { numRuns: 3000 },
    );
  });

  it('the schema and the parser agree on what explain writes of every right file', async () => {
    for (const { content, is } of SCHEMA_FILES) {
      if (is !== 'right') continue;
      const resolution = await resolveRun(
        ['--config', '/c.json', '--', 'app'],
        {},
        filesOf({ '/c.json': JSON.stringify(content) }),
      );
      assert.ok(resolution.ok);
      const given = resolution.sources.filter(({ source }) => source === '/c.json');
      const argv = given.flatMap(({ key, value }) => [`--${key}`, value]);
      const again = await resolveRun([...argv, '--', 'app'], {}, filesOf());
      assert.ok(again.ok, again.ok ? '' : again.problems.join('\n'));
      assert.deepEqual(again.run.member, resolution.run.member);
    }
  });
});

describe('the JSON Schema', () => {
  it('the JSON Schema has every key with the words of sexton help', () => {
    const properties = configSchema().properties as Record<string, { readonly description?: string }>;
    for (const key of KEYS) assert.ok(properties[fileKeyOf(key)]?.description?.startsWith(FLAGS[key].help), key);
    for (const [key, { description }] of Object.entries(properties)) assert.ok(description, `${key} is described`);
  });
});
