import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { parseGates } from '../../../src/config/notation/gates.ts';
import { SIDECARS } from '../../../src/config/notation/sidecars.ts';
import type { ReadyAction } from '../../../src/core/config.ts';
import { type ActionEnd, type RunningAction, startAction } from '../../../src/runtime/probes/probe.ts';
import { within } from '../../helpers/wait.ts';
import { closedPort, failed, ok, run } from './servers.ts';
import { type Asked, answer, SidecarLike } from './sidecar-like.ts';

function gateOf(text: string): ReadyAction {
  const parsed = parseGates(text);
  const [gate] = parsed.ok ? parsed.value.ready : [];
  assert.ok(gate !== undefined, text);
  return gate;
}

async function look(t: TestContext, name: string, does: (asked: Asked, giveUp: () => void) => void) {
  let running: RunningAction | undefined;
  const sidecar = await new SidecarLike((asked) => does(asked, () => running?.expire())).listen(t);
  const end = new Promise<ActionEnd>((onEnd) => {
    running = startAction(gateOf(`${name}:${sidecar.port}=ready`), { timeoutMs: 600_000, onEnd });
  });
  return { sidecar, end: await within(`the end of a look at ${name}`, end) };
}

for (const [name, { ready }] of Object.entries(SIDECARS)) {
  describe(`the gate of ${name}`, () => {
    it(`the gate of ${name} asks by GET at its own path, and is open with any status from 200 on`, async (t) => {
      for (const status of [200, 204]) {
        const { sidecar, end } = await look(t, name, ({ socket }) => answer(socket, status));
        assert.deepEqual([end.ok, end.detail, sidecar.asked], [true, `status ${status}`, [`GET ${ready.path}`]]);
      }
    });

    it(`the gate of ${name} is closed after a 503, a 500, half an answer, none, or one that is not HTTP`, async (t) => {
      const cases: readonly (readonly [does: (asked: Asked, giveUp: () => void) => void, detail: RegExp])[] = [
        [({ socket }) => answer(socket, 503), /^status 503$/],
        [({ socket }) => answer(socket, 500), /^status 500$/],
        [(_asked, giveUp) => giveUp(), /^timed out after /],
        [({ socket }) => socket.end('ready\n\n'), /^malformed answer: not HTTP\/1$/],
        [({ socket }) => socket.resetAndDestroy(), /^connection reset$/],
        [({ socket }) => socket.end(), /^connection closed without an answer$/],
      ];
      for (const [does, detail] of cases) {
        const { end } = await look(t, name, does);
        assert.deepEqual([end.ok, detail.test(end.detail)], [false, true], end.detail);
      }
    });

    it(`the gate of ${name} stays shut and names its needs unless it may be absent`, async (t) => {
      const gate = `${name}:${await closedPort(t)}=ready`;
      const hint = ready.hint === undefined ? '' : `; ${ready.hint}`;
      assert.deepEqual(await run(gateOf(gate)), failed(`connection refused${hint}`));
      assert.deepEqual(await run(gateOf(`${gate}?`)), ok('nothing listens there'));
    });
  });
}

it('a gate waits for a sidecar that is not ready, also where absent is fine', async (t) => {
  const sidecar = await new SidecarLike(({ socket }) => answer(socket, 503)).listen(t);
  assert.equal((await run(gateOf(`istio:${sidecar.port}=ready?`))).ok, false);
});

it('a 404 keeps a gate closed and names what the sidecar needs', async (t) => {
  const { end } = await look(t, 'cloud-sql-proxy', ({ socket }) => answer(socket, 404));
  assert.equal(end.detail, 'status 404; start the proxy with --health-check');
});

it('the gate of Vault agent sends the header that some of its listeners require', async (t) => {
  let head = '';
  await look(t, 'vault-agent', (asked) => {
    head = asked.head;
    answer(asked.socket, 200);
  });
  assert.match(head, /\r\nX-Vault-Request: true\r\n/);
});

it('a gate requests a URL as it is written', async (t) => {
  const sidecar = await new SidecarLike(({ socket }) => answer(socket, 200)).listen(t);
  assert.equal((await run(gateOf(`http://127.0.0.1:${sidecar.port}/up?who=a=b%2Cc=ready`))).ok, true);
  assert.deepEqual(sidecar.asked, ['GET /up?who=a=b%2Cc']);
});
