import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../helpers/paths.ts';
import { filesOf, problemsOf, resolvedWithFile } from './files.ts';

describe('docs/config.md', () => {
  it('docs/config.md has a valid file that brings no warning', async () => {
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs/config.md'), 'utf8')) ?? [];
    const { warnings, run } = await resolvedWithFile(['--config', '/c.yaml'], {}, filesOf({ '/c.yaml': yaml }));
    assert.deepEqual(warnings, []);
    assert.equal(run.member.probes.startup?.failures, 30);
    assert.equal(run.member.reload.length, 1);
  });

  it('quotes the message about an unknown key as it is printed', async () => {
    const files = filesOf({ '/etc/sexton.yaml': 'readinessProbe: {httpGet: {prot: 80}}\n' });
    const problems = await problemsOf(['--config', '/etc/sexton.yaml', '--', 'true'], {}, files);
    const [problem = assert.fail('it was taken')] = problems;
    assert.ok(readFileSync(join(ROOT, 'docs/config.md'), 'utf8').includes(`\`${problem}\``), problem);
  });
});
