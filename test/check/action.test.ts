/**
 * Runs action.yml as GitHub does. It evaluates the expressions of `env`, writes `run` to a file, and runs that with
 * `bash --noprofile --norc -e -o pipefail` in the workspace (docs.github.com, metadata syntax of composite actions).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { COMMANDS } from '../../src/cli/commands/commands.ts';
import { ROOT } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { examples } from './rules.ts';

interface Step {
  readonly shell: string;
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Action {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const ACTION: Action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'));
const { steps } = ACTION.runs;
const BAD = examples('SX101').bad;
const GOOD = examples('SX101').good;
const WARNS = examples('SX109').bad;
/** Flags of `sexton check` that are no inputs: what the action writes by itself, and what is for people. */
const LEFT_OUT = ['output', 'timeline', 'allow-empty', 'fix', 'diff', 'list-rules', 'explain', 'schema'];

/** As GitHub fills them in: an input that is not given has its default, else it is empty. */
function evaluated(expression: string, inputs: Readonly<Record<string, string>>): string {
  return expression.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, name: string) => {
    if (name === 'github.action_path') return ROOT;
    const [, input = ''] = /^inputs\.([a-z-]+)$/.exec(name) ?? [];
    const declared = ACTION.inputs[input];
    assert.ok(declared, `no input of the expression ${name}`);
    return inputs[input] ?? declared.default ?? '';
  });
}

function runAction(files: Readonly<Record<string, string>>, inputs: Readonly<Record<string, string>> = {}) {
  const workspace = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  let outcome = { code: 0 as number | null, out: '', err: '' };
  for (const { run, env } of steps) {
    const script = join(temporaryDirectory(), 'script.sh');
    writeFileSync(script, run);
    const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', script], {
      cwd: workspace,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        HOME: workspace,
        ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, evaluated(text, inputs)])),
      },
    });
    outcome = { code: status, out: outcome.out + stdout, err: outcome.err + stderr };
    if (status !== 0) break;
  }
  return { ...outcome, workspace };
}

describe('the GitHub Action', () => {
  it('the action has an input for each flag, and no expression in a script', () => {
    const flags = COMMANDS.check.flags.map(({ name }): string => name).filter((name) => !LEFT_OUT.includes(name));
    assert.deepEqual(Object.keys(ACTION.inputs).sort(), [...flags, 'paths', 'sarif'].sort());
    for (const [name, { description }] of Object.entries(ACTION.inputs)) assert.ok(description.length > 10, name);
    assert.equal(ACTION.runs.using, 'composite');
    assert.ok(ACTION.name !== '' && ACTION.description !== '');
    for (const { run, shell } of steps) {
      assert.equal(shell, 'bash');
      assert.ok(!run.includes('${{'), run);
    }
    const used = steps.flatMap(({ env }) => Object.values(env).map((text) => /inputs\.([a-z-]+)/.exec(text)?.[1]));
    assert.deepEqual(used.filter((name) => name !== undefined).sort(), Object.keys(ACTION.inputs).sort());
  });

  it('the action annotates findings and fails by errors', () => {
    const { code, out, err } = runAction({ 'a.yaml': BAD, 'b.yaml': GOOD });
    assert.equal(code, 1, err);
    assert.match(out, /^::error file=a\.yaml,line=14,[^:]*title=sexton SX101::web: a preStop of 35 s/);
    assert.equal(out.trimEnd().split('\n').length, 1);
    const { workspace, ...clean } = runAction({ 'b.yaml': GOOD });
    assert.deepEqual(clean, { code: 0, out: '', err: '' });
    assert.deepEqual(readdirSync(workspace), ['b.yaml']);
  });

  it('the action passes each input on as its flag', () => {
    const files = { 'a.yaml': BAD, 'b.yaml': WARNS };
    assert.equal(runAction(files, { paths: 'b.yaml', 'fail-on': 'warning' }).code, 1);
    assert.equal(runAction(files, { paths: 'b.yaml', severity: 'SX109=error' }).code, 1);
    assert.equal(runAction(files, { skip: 'SX101' }).code, 0);
    assert.match(runAction(files, { only: 'SX109' }).out, /^::warning file=b\.yaml.*\n$/);
    for (const name of ['images', 'baseline', 'scenario', 'kubernetes-version']) {
      const { code, err } = runAction(files, { [name]: 'none' });
      assert.equal(code, 125);
      assert.match(err, new RegExp(`--${name} none: `));
    }
  });

  it('the action accepts several paths, one a line, also with blanks', () => {
    const files = { 'a.yaml': GOOD, 'b c.yaml': BAD, 'd.yaml': BAD };
    const { out } = runAction(files, { paths: '\na.yaml\nb c.yaml\n\n' });
    assert.match(out, /^::error file=b c\.yaml,[^\n]*\n$/);
  });

  it('the action writes SARIF beside the annotations', () => {
    const { out, workspace } = runAction({ 'a.yaml': BAD }, { sarif: 'out of it.sarif' });
    assert.match(out, /^::error /);
    const { runs } = JSON.parse(readFileSync(join(workspace, 'out of it.sarif'), 'utf8'));
    assert.equal(runs[0].results[0].ruleId, 'SX101');
  });

  it('the action exits with 2 where a file cannot be read', () => {
    const { code, out } = runAction({ 'a.yaml': 'a: [\n' });
    assert.equal(code, 2);
    assert.match(out, /^::error file=a\.yaml,line=\d+::not YAML/);
  });

  it('the action runs nothing that an input says and takes no flag from it', () => {
    const files = { 'a.yaml': BAD };
    const every = (text: string) => Object.fromEntries(Object.keys(ACTION.inputs).map((name) => [name, text]));
    const nasty = '$(touch a) `touch b` "; touch c; " \'; touch d; \' ; touch e; && touch f * %0A::error::g';
    const wrong: readonly Readonly<Record<string, string>>[] = [
      every(nasty),
      { paths: nasty },
      { paths: '--fix\n--output=sarif=g' },
      { 'fail-on': 'never --fix' },
    ];
    for (const inputs of wrong) {
      const { code, out, workspace } = runAction(files, inputs);
      assert.ok(code === 125 || code === 2, `${code} ${out}`);
      assert.deepEqual(readdirSync(workspace), ['a.yaml']);
      assert.equal(readFileSync(join(workspace, 'a.yaml'), 'utf8'), BAD);
      assert.ok(!/^::error::g/m.test(out), out);
    }
    const { workspace } = runAction(files, { sarif: '$(touch a)' });
    assert.deepEqual(readdirSync(workspace).sort(), ['$(touch a)', 'a.yaml']);
  });
});
