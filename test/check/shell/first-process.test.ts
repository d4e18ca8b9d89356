/** Manifests after --fix, started as PID 1: they run on, and end on TERM. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startContainer } from '../../helpers/container.ts';
import { atOnce } from '../../helpers/engine.ts';
import { member } from '../../helpers/member.ts';
import { scenario } from '../../helpers/scenario.ts';
import { waitForEvent } from '../../helpers/timeline.ts';
import { fixedText } from '../rules.ts';
import { podJson } from '../workloads.ts';

/** SERVER is a program that ends on TERM. */
const SCRIPTS = [
  'SERVER',
  'true; SERVER',
  'set -e\ntrue\nSERVER',
  'cd / && true && SERVER > /dev/null 2>&1',
  'false || true; SERVER',
  'sleep 100 & SERVER',
  'cat > /dev/null <<EOF\nexec false; "\nEOF\nSERVER',
  "# it's started\nSERVER",
];
/** The words before the script, and those behind it. */
const FORMS: readonly (readonly [before: readonly string[], after: readonly string[]])[] = [
  [['sh', '-c'], []],
  [
    ['/bin/sh', '-c', '--'],
    ['sh', 'SERVER'],
  ],
  [['dash', '-ec'], []],
  [['dash', '-c', '-e'], []],
  [['sh', '-o', 'errexit', '-c'], []],
  [['env', 'A=b', 'dash', '-c'], []],
  [['/usr/bin/env', '-S', 'dash', '-c'], []],
];

describe('a manifest after --fix', { concurrency: atOnce(2) }, () => {
  for (const script of SCRIPTS) {
    scenario(`a fixed ${JSON.stringify(script)} runs as PID 1 and ends on TERM`, async (stage) => {
      const server = member(stage, 'app').join(' ');
      for (const [index, [before, after]] of FORMS.entries()) {
        const words = [...before, script, ...after].map((word) => word.replaceAll('SERVER', server));
        const command = await fixed(words);
        assert.notDeepEqual(command, words);
        const container = startContainer(stage.scratch, { command, bare: true });
        await waitForEvent(stage.scratch.log, 'app', 'Started', index + 1);
        await container.signal('SIGTERM');
        await container.exit();
      }
    });
  }

  it('a program that ignores TERM as PID 1 gets no exec', async () => {
    for (const idle of ['tail -f /dev/null', 'sleep infinity', 'cat', 'env A=b /bin/sleep 5', 'python3 -m http.server'])
      assert.deepEqual(await fixed(['sh', '-c', idle]), ['sh', '-c', idle]);
  });
});

/** The words of a container's command, after --fix. */
async function fixed(command: readonly string[]): Promise<readonly string[]> {
  return JSON.parse(await fixedText(podJson({ command }))).spec.containers[0].command;
}
