/** A sidecar without sexton, played by this process. At the start its main waits for it, at the end asks it to go. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { send } from '../helpers/process.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import type { Scratch } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';
import { answer, SidecarLike } from '../runtime/probes/sidecar-like.ts';

const READY = 'GET /healthz/ready';
const QUIT = 'POST /quitquitquit';
const NOT_IN_PODMAN = 'the sidecar is this process, which a container does not see on its loopback address';

function besideIstio(title: string, body: (stage: Stage) => Promise<void>): void {
  scenario(title, body, { notInPodman: NOT_IN_PODMAN });
}

class Istio {
  readonly sidecar: SidecarLike;
  isReady = false;

  private constructor() {
    this.sidecar = new SidecarLike(({ socket, path, sidecar }) => {
      if (path === '/healthz/ready') return answer(socket, this.isReady ? 200 : 503);
      answer(socket, 200);
      sidecar.leave();
    });
  }

  static async start(t: TestContext): Promise<Istio> {
    const istio = new Istio();
    await istio.sidecar.listen(t);
    return istio;
  }

  get gate(): readonly string[] {
    return ['--start-after', `istio:${this.sidecar.port}=ready`];
  }

  get quit(): readonly string[] {
    return ['--quit', `istio:${this.sidecar.port}`, '--restart-policy', 'Never'];
  }

  /** Resolves when the sidecar was asked at least this often whether it is ready. */
  asked(times: number): Promise<unknown> {
    return waitFor(`${times} questions`, () => this.sidecar.asked.filter((line) => line === READY).length >= times);
  }
}

/** Leaves a file when it is started. */
function start(scratch: Scratch, flags: readonly string[], then: string): Container {
  return startContainer(scratch, { flags, command: ['sh', '-c', `: > "$SCRATCH/started"; ${then}`] });
}
const isStarted = (scratch: Scratch): boolean => existsSync(scratch.path('started'));

besideIstio('a main waits for a sidecar without sexton and asks it to leave at the end', async ({ t, scratch }) => {
  const istio = await Istio.start(t);
  const main = start(scratch, [...istio.gate, ...istio.quit], 'exit 3');
  await istio.asked(3);
  assert.equal(isStarted(scratch), false);
  istio.isReady = true;
  assert.equal((await main.exit()).status, 3);
  assert.equal(isStarted(scratch), true);
  assert.equal(istio.sidecar.asked.filter((line) => line === QUIT).length, 1);
});

besideIstio(
  'K03 N21 a stop request while a main waits for the sidecar starts and asks nothing',
  async ({ t, scratch }) => {
    const istio = await Istio.start(t);
    const main = start(scratch, [...istio.gate, ...istio.quit], 'exit 0');
    await istio.asked(1);
    await main.signal('SIGTERM');
    assert.equal((await main.exit()).status, 143);
    assert.equal(isStarted(scratch), false);
    assert.ok(!istio.sidecar.asked.includes(QUIT));
  },
);

besideIstio('a restarted supervisor goes on waiting for the sidecar', async ({ t, scratch }) => {
  const istio = await Istio.start(t);
  const main = start(scratch, [...istio.gate, '--start-timeout', '1h'], 'exit 0');
  await istio.asked(2);
  const first = await main.supervisor();
  send(first, 'SIGKILL');
  await main.supervisor(first);
  await istio.asked(istio.sidecar.asked.length + 2);
  assert.equal(isStarted(scratch), false);
  istio.isReady = true;
  assert.equal((await main.exit()).status, 0);
  assert.equal(isStarted(scratch), true);
});

besideIstio(
  'K16 a sidecar that is never ready ends the start with 125 and is asked to leave',
  async ({ t, scratch }) => {
    const istio = await Istio.start(t);
    const main = start(scratch, [...istio.gate, '--start-timeout', '300ms', ...istio.quit], 'exit 0');
    assert.equal((await main.exit()).status, 125);
    assert.equal(isStarted(scratch), false);
    assert.ok(istio.sidecar.asked.includes(QUIT));
    assert.match(main.stderr(), /cannot start: timed out waiting for istio:\d+=ready \(http:/);
  },
);

besideIstio(
  'a stopped main asks the sidecar to leave, and one that will be restarted does not',
  async ({ t, scratch }) => {
    const istio = await Istio.start(t);
    const failing = start(scratch, [...istio.quit.slice(0, 2), '--restart-policy', 'OnFailure'], 'exit 3');
    assert.equal((await failing.exit()).status, 3);
    assert.deepEqual(istio.sidecar.asked, []);
    const main = start(scratch, istio.quit, 'trap "exit 5" TERM; : > "$SCRATCH/trapped"; while :; do sleep 0.1; done');
    await waitFor('the trap', () => existsSync(scratch.path('trapped')));
    await main.signal('SIGTERM');
    assert.equal((await main.exit()).status, 5);
    assert.deepEqual(istio.sidecar.asked, [QUIT]);
  },
);
