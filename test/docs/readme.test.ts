/** The command lines of README are taken without a warning, and agree with their pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { check } from '../../src/check/check.ts';
import { resolveRun } from '../../src/config/resolve.ts';
import { filesOf } from '../config/files.ts';
import type { PodSpec } from '../helpers/manifest.ts';
import { PAGES, textOf } from './pages.ts';

const SIGQUIT = 3;

const README = textOf('README.md');

describe('README', () => {
  it('README has a Dockerfile whose entrypoint sexton takes, with QUIT for nginx', async () => {
    const [, entrypoint = '', command = ''] = /^ENTRYPOINT (\[.*\])\nCMD (\[.*\])$/m.exec(README) ?? [];
    const run = await resolve([...JSON.parse(entrypoint), ...JSON.parse(command)]);
    assert.deepEqual(
      run.member.ladder?.map(({ signal }) => signal),
      [SIGQUIT],
    );
  });

  it('README has a Job and a Deployment whose command lines agree with their pods', async () => {
    const blocks = [...README.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => parse(text));
    const pods = blocks.map(({ spec }: { spec: PodSpec }) => spec);
    assert.equal(pods.length, 2);
    for (const { containers, restartPolicy, terminationGracePeriodSeconds: seconds } of pods)
      for (const { name, command = [], args = [], volumeMounts = [] } of containers) {
        const directories = volumeMounts.map(({ mountPath }) => mountPath);
        const { member } = await resolve([...command, ...args], directories);
        if (restartPolicy !== undefined) assert.equal(member.restartPolicy, restartPolicy, name);
        assert.equal(member.gracePeriodMs, seconds === undefined ? undefined : seconds * 1000, name);
      }
  });

  it('README quotes a finding of `sexton check` as it is printed', async () => {
    const { findings } = await check([{ path: 'web.yaml', text: SHELL }]);
    assert.deepEqual(
      findings.map(({ rule, message }) => [rule, README.includes(`error ${rule} ${message}`)]),
      [['SX201', true]],
    );
  });

  it('README shows, like all pages, no installation from a registry', () => {
    const published = PAGES.filter((page) => /npm install (?:--global )?sexton$/m.test(textOf(page)));
    assert.deepEqual(published, []);
  });
});

const SHELL = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - {name: web, image: python:3, command: [sh, -c, python3 main.py; echo done]}
`;

async function resolve([program, ...words]: readonly string[], directories: readonly string[] = []) {
  assert.equal(program, '/sexton/sexton');
  const line = words[0] === 'run' ? words.slice(1) : words;
  const resolution = await resolveRun(line, { SEXTON_POD_UID: 'x' }, filesOf({}, directories));
  assert.ok(resolution.ok, resolution.ok ? '' : resolution.problems.join('\n'));
  assert.deepEqual(resolution.warnings, []);
  return resolution.run;
}
