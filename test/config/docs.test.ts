/** The examples of docs/config.md, as a reader would paste them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { resolveRun } from '../../src/config/resolve.ts';
import { ROOT } from '../helpers/paths.ts';
import { filesOf } from './files.ts';

describe('docs/config.md', () => {
  it('docs/config.md has a valid file that brings no warning', async () => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs/config.md'), 'utf8')) ?? [];
    const resolution = await resolveRun(['--config', '/c.yaml'], {}, filesOf({ '/c.yaml': yaml }));
    assert.ok(resolution.ok, resolution.ok ? '' : resolution.problems.join('\n'));
    assert.deepEqual(resolution.warnings, []);
    assert.equal(resolution.run.member.probes.startup?.failures, 30);
    assert.equal(resolution.run.member.reload.length, 1);
  });

  it('docs/config.md quotes the message about an unknown key as it is printed', async () => {
    const yaml = 'readinessProbe: {httpGet: {prot: 80}}\n';
    const resolution = await resolveRun(
      ['--config', '/etc/sexton.yaml', '--', 'true'],
      {},
      filesOf({ '/etc/sexton.yaml': yaml }),
    );
    const [problem = assert.fail('it was taken')] = resolution.ok ? [] : resolution.problems;
    assert.ok(readFileSync(join(ROOT, 'docs/config.md'), 'utf8').includes(`\`${problem}\``), problem);
  });
});
