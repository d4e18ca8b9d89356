/** The workflows of the repository, which cannot run here: what can be checked without running them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../helpers/paths.ts';
import { type Workflow, workflowProblems } from './workflow-lint.ts';

const DIRECTORY = join(ROOT, '.github/workflows');
const read = (name: string): string => readFileSync(join(DIRECTORY, name), 'utf8');
const RELEASE = read('release.yml');

for (const name of readdirSync(DIRECTORY)) {
  test(`the workflow ${name} has no problem that can be seen without running it`, () => {
    assert.deepEqual(workflowProblems(read(name)), []);
  });
}

for (const [what, from, to, problem] of [
  ['a need that is not there', 'needs: [test, package]', 'needs: [tests, package]', /needs tests, which is not there/],
  ['a job that is not needed', 'needs: [test, package]', 'needs: [test]', /the job does not need package/],
  ['a circle', '  test:\n', '  test:\n    needs: release\n', /job test: it needs itself/],
  ['an action that is not pinned', /checkout@\w+ # v7\.0\.1/, 'checkout@v7', /checkout@v7 is not pinned/],
  ['a commit without its version', ' # v7.3.0', '', /no version behind/],
  ['no rights at the top', 'permissions: {}', '', /permissions are not set at the top/],
  ['rights for all jobs', 'permissions: {}', 'permissions: { contents: write }', /contents may be written by all/],
  ['a job without rights', / {4}permissions:\n {6}contents: read\n(?= {4}strategy)/, '', /test: it has no perm/],
  ['a script that is no bash', 'npm ci', 'if npm ci; then', /no bash/],
  ['a variable that is not set', '$PRERELEASE" = true', '$PRERELEASED" = true', /uses PRERELEASED, which is not set/],
  ['an output that no step gives', 'outputs.commit', 'outputs.comit', /gives no comit/],
  ['a step that comes later', '- id: name', '- id: other', /no earlier step has the id name/],
  ['an expression in a script', 'npm ci', `echo $\{{ github.ref }}`, /stands in its script/],
  ['a secret', 'secrets.GITHUB_TOKEN', 'secrets.NPM_TOKEN', /no secret but GITHUB_TOKEN/],
  ['an unknown matrix', 'matrix.runner', 'matrix.os', /not in the matrix/],
  ['a checkout that keeps its token', /persist-credentials: false/g, 'fetch-depth: 1', /leaves its token/],
] as const) {
  test(`the check sees ${what}`, () => {
    const changed = RELEASE.replace(from, to);
    assert.notEqual(changed, RELEASE);
    assert.match(workflowProblems(changed).join('\n'), problem);
  });
}

test('each job of the release may do what it is for and nothing else', () => {
  const { jobs = {} } = parse(RELEASE) as Workflow;
  assert.deepEqual(
    Object.entries(jobs).map(([name, { permissions }]) => [name, permissions]),
    [
      ['test', { contents: 'read' }],
      ['package', { contents: 'read' }],
      ['npm', { 'id-token': 'write' }],
      ['image', { contents: 'read', packages: 'write', 'id-token': 'write' }],
      ['release', { contents: 'write', 'id-token': 'write', attestations: 'write' }],
    ],
  );
});

test('nothing is published before the tests have passed, and a release is made last', () => {
  const { jobs = {} } = parse(RELEASE) as Workflow;
  for (const name of ['npm', 'image']) assert.deepEqual(jobs[name]?.needs, ['test', 'package']);
  assert.deepEqual(jobs.release?.needs, ['package', 'npm', 'image']);
});
