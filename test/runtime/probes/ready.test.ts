/**
 * Looks at sidecars that are to be ready, by each preset: what is asked, and what each answer comes to.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { parseGates } from '../../../src/config/notation/gates.ts';
import { SIDECARS } from '../../../src/config/notation/sidecars.ts';
import type { ReadyAction } from '../../../src/core/config.ts';
import { type ActionEnd, type RunningAction, startAction } from '../../../src/runtime/probes/probe.ts';
import { within } from '../../helpers/wait.ts';
import { closedPort, run } from './servers.ts';
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
  describe(`whether ${name} is ready`, () => {
    it('is asked by GET at its own path, and is so by any status from 200 on', async (t) => {
      for (const status of [200, 204]) {
        const { sidecar, end } = await look(t, name, ({ socket }) => answer(socket, status));
        assert.deepEqual([end.ok, end.detail, sidecar.asked], [true, `status ${status}`, [`GET ${ready.path}`]]);
      }
    });

    it('is not so while it says 503, 500 or nothing, is not HTTP, or breaks off', async (t) => {
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

    it('is not so where nobody listens, with what it needs; unless absent is fine', async (t) => {
      const gate = `${name}:${await closedPort(t)}=ready`;
      const hint = ready.hint === undefined ? '' : `; ${ready.hint}`;
      assert.deepEqual(await run(gateOf(gate)), { ok: false, detail: `connection refused${hint}`, output: '' });
      assert.deepEqual(await run(gateOf(`${gate}?`)), { ok: true, detail: 'nothing listens there', output: '' });
    });
  });
}

it('one that is there and not ready is waited for, also where absent is fine', async (t) => {
  const sidecar = await new SidecarLike(({ socket }) => answer(socket, 503)).listen(t);
  assert.equal((await run(gateOf(`istio:${sidecar.port}=ready?`))).ok, false);
});

it('a 404 is no yes, and is said with what the sidecar needs', async (t) => {
  const { end } = await look(t, 'cloud-sql-proxy', ({ socket }) => answer(socket, 404));
  assert.equal(end.detail, 'status 404; start the proxy with --health-check');
});

it('Vault agent is asked with the header without which some of its listeners answer nobody', async (t) => {
  let head = '';
  await look(t, 'vault-agent', (asked) => {
    head = asked.head;
    answer(asked.socket, 200);
  });
  assert.match(head, /\r\nX-Vault-Request: true\r\n/);
});

it('a URL is asked as it is written', async (t) => {
  const sidecar = await new SidecarLike(({ socket }) => answer(socket, 200)).listen(t);
  assert.equal((await run(gateOf(`http://127.0.0.1:${sidecar.port}/up?who=a=b%2Cc=ready`))).ok, true);
  assert.deepEqual(sidecar.asked, ['GET /up?who=a=b%2Cc']);
});
