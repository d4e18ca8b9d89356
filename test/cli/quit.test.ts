import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { quit } from '../../src/cli/commands/quit.ts';
import { SIDECARS } from '../../src/config/notation/sidecars.ts';
import { run } from '../helpers/outcome.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { waitFor } from '../helpers/wait.ts';
import { type Asked, answer, SidecarLike } from '../runtime/probes/sidecar-like.ts';

const MAIN = join(ROOT, 'src', 'cli', 'main.ts');
const sexton = (...args: string[]) => run([NODE, MAIN, 'quit', ...args]);

const leaves = ({ sidecar, socket }: Asked): void => {
  answer(socket, 200);
  sidecar.leave();
};
const isOff = ({ socket }: Asked): void => answer(socket, 404);

describe('sexton quit', () => {
  it('sexton quit asks all that are named, says what became of each, and exits with 0', async (t) => {
    const istio = await new SidecarLike(leaves).listen(t);
    const other = await new SidecarLike(leaves).listen(t);
    const gone = await new SidecarLike(leaves).listen(t);
    gone.leave();
    const url = `http://127.0.0.1:${other.port}/stop?now`;
    const { code, stdout: out, stderr: errors } = await sexton(`istio:${istio.port}`, url, `dapr:${gone.port}`);
    assert.deepEqual([code, errors], [0, '']);
    assert.equal(
      out,
      `istio:${istio.port}: it has gone\n${url}: it has gone\ndapr:${gone.port}: nothing listened there\n`,
    );
    assert.deepEqual([istio.asked, other.asked], [['POST /quitquitquit'], ['POST /stop?now']]);
  });

  it('sexton quit exits with 1 and a remedy when one was asked in vain, and the others leave', async (t) => {
    const linkerd = await new SidecarLike(isOff).listen(t);
    const istio = await new SidecarLike(leaves).listen(t);
    const { code, stdout: out, stderr: errors } = await sexton(`linkerd:${linkerd.port},istio:${istio.port}`);
    assert.deepEqual([code, out], [1, `istio:${istio.port}: it has gone\n`]);
    const remedy = 'switch it on by the annotation config.linkerd.io/proxy-admin-shutdown: enabled';
    assert.equal(errors, `sexton: cannot make linkerd:${linkerd.port} leave: /shutdown: status 404; ${remedy}\n`);
  });

  it('sexton quit waits no longer than --timeout, and a signal ends it at once', async (t) => {
    const mute = await new SidecarLike(() => {}).listen(t);
    const { code, stderr: errors } = await sexton(`envoy:${mute.port}`, '--timeout=1ms');
    assert.deepEqual([code, errors], [1, `sexton: cannot make envoy:${mute.port} leave: timed out after 1ms\n`]);
    const child = spawn(NODE, [MAIN, 'quit', '--timeout', '1h', `istio:${mute.port}`], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    await waitFor('the call', () => mute.asked.includes('POST /quitquitquit'));
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.equal(child.signalCode, 'SIGTERM');
  });

  const names = Object.keys(SIDECARS).join(', ');
  const wrong: Readonly<Record<string, readonly string[]>> = {
    'no sidecar is named; write one such as istio, or a URL': [],
    'unknown sidecar isto; did you mean istio?': ['isto'],
    [`unknown sidecar nginx; write one of ${names}, or a URL`]: ['nginx'],
    'x is not a port; write a number from 1 to 65535': ['istio:x'],
    'istio is given twice; give it once': ['istio', 'istio'],
    '--timeout 5: a duration needs a unit; write 5s or 5ms': ['istio', '--timeout', '5'],
    'unknown flag --timout; did you mean --timeout?': ['--timout=5s', 'istio'],
    'has no port; write one such as http://:8080/quit': ['http:///quit'],
  };
  for (const [problem, args] of Object.entries(wrong)) {
    it(`sexton quit refuses ${args.join(' ') || 'a call without sidecars'}: ${problem}`, async () => {
      await assert.rejects(quit(args), (error: Error) => {
        assert.equal(error.name, 'SextonError');
        assert.equal(error.message, `cannot run sexton quit: ${problem}`);
        return true;
      });
    });
  }
});
