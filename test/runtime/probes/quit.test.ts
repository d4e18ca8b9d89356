/** Quit calls of each preset to a sidecar that behaves as its documentation says, or badly. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parseQuit, SIDECARS } from '../../../src/config/notation/sidecars.ts';
import type { QuitAction } from '../../../src/core/config.ts';
import { type ActionEnd, type RunningAction, startAction } from '../../../src/runtime/probes/probe.ts';
import { within } from '../../helpers/wait.ts';
import { run } from './servers.ts';
import { type Asked, answer, SidecarLike } from './sidecar-like.ts';

interface Case {
  readonly title: string;
  /** What it does at the last call; those before are answered with 200. `giveUp`: the time of the call is over. */
  readonly does: (asked: Asked, giveUp: () => void, t: TestContext) => unknown;
  /** Why it failed; without: it is a success, and it has gone. */
  readonly fails?: RegExp;
}

const ok = (socket: Socket): void => answer(socket, 200);
const leaves = ({ sidecar, socket }: Asked): void => {
  ok(socket);
  sidecar.leave();
};
/** It answers so, and the time is over after the second look whether it has gone. */
const stays = (then: (socket: Socket) => void): Case['does'] => {
  return ({ sidecar, socket }, giveUp) => {
    sidecar.onLook((nth) => nth === 2 && giveUp());
    then(socket);
  };
};

const GARBAGE = Buffer.from([0x15, 3, 3, 0, 2, 2, 10, 10, 13, 10, 13, 10]);
const CASES: readonly Case[] = [
  { title: 'says yes and leaves', does: leaves },
  {
    title: 'leaves only when it is asked by POST',
    does: (asked) => (asked.method === 'POST' ? leaves(asked) : answer(asked.socket, 405)),
  },
  { title: 'dies before it has answered', does: ({ sidecar }) => sidecar.die() },
  {
    title: 'says yes and drains before it leaves',
    does: ({ sidecar, socket }) => {
      sidecar.onLook((nth) => nth === 3 && sidecar.leave());
      ok(socket);
    },
  },
  {
    title: 'says yes and stays',
    does: stays(ok),
    fails: /^it was asked \(status 200\) and has not gone: its port is open, still or again$/,
  },
  {
    title: 'leaves, and another program gets its port',
    does: async (asked, giveUp, t) => {
      await asked.sidecar.giveWay(t);
      return stays(ok)(asked, giveUp, t);
    },
    fails: /has not gone: its port is open, still or again$/,
  },
  { title: 'has the call switched off', does: ({ socket }) => answer(socket, 404), fails: /^\/.*: status 404; / },
  { title: 'is broken', does: ({ socket }) => answer(socket, 500), fails: /^\/.*: status 500$/ },
  { title: 'never answers', does: (_asked, giveUp) => giveUp(), fails: /^timed out after / },
  {
    title: 'answers garbage',
    does: ({ socket }) => socket.end(GARBAGE),
    fails: /^\/.*: malformed answer: not HTTP\/1$/,
  },
  {
    title: 'sends half a head and then nothing',
    does: ({ socket }, giveUp) => socket.write('HTTP/1.1 200 OK\r\nContent-Le', giveUp),
    fails: /^timed out after /,
  },
  {
    title: 'sends a head without an end',
    does: ({ socket }) => pour(socket, 'HTTP/1.1 200 OK\r\nX-Long: '),
    fails: /^\/.*: malformed answer: its head is too long$/,
  },
  {
    title: 'resets the connection and stays',
    does: stays((socket) => socket.resetAndDestroy()),
    fails: /^it was asked \(connection reset\) and has not gone/,
  },
  {
    title: 'sends the call to another host',
    does: stays((socket) => answer(socket, 302, 'Location: http://sidecar.invalid/quit\r\n')),
    fails: /^it was asked \(status 302, redirects to another host\) and has not gone/,
  },
  {
    title: 'sends the call round and round',
    does: ({ socket, path }) => answer(socket, 307, `Location: ${path}\r\n`),
    fails: /^\/.*: stopped after 10 redirects$/,
  },
  {
    title: 'answers with a body of a gigabyte and leaves',
    does: ({ sidecar, socket }) => {
      sidecar.leave();
      pour(socket, `HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 30}\r\n\r\n`);
    },
  },
];

for (const name of Object.keys(SIDECARS)) {
  describe(`the quit call of ${name}, to a sidecar that`, { concurrency: 4 }, () => {
    for (const { title, does, fails } of CASES) {
      it(title, async (t) => {
        const { sidecar, end } = await ask(t, name, does);
        assert.equal(end.ok, fails === undefined, end.detail);
        assert.match(end.detail, fails ?? /^it has gone$/);
        const times = title.includes('round and round') ? 10 : 1;
        const [last, ...before] = [...callsOf(name)].reverse();
        assert.deepEqual(sidecar.asked, [...before.reverse(), ...Array(times).fill(last)]);
      });
    }

    it(`the quit call of ${name} succeeds if the sidecar has gone before`, async (t) => {
      const sidecar = await new SidecarLike(() => {}).listen(t);
      sidecar.leave();
      const end = await run(quitOf(name, sidecar.port));
      assert.equal(end.ok, true);
      assert.match(end.detail, /^nothing listened there/);
    });
  });
}

describe('a failed quit call', () => {
  const switchedOff: Case['does'] = ({ socket }) => answer(socket, 404);
  const remedies: Readonly<Record<string, RegExp>> = {
    linkerd: /status 404; switch it on by the annotation config\.linkerd\.io\/proxy-admin-shutdown: enabled$/,
    'cloud-sql-proxy': /status 404; start the proxy with --quitquitquit$/,
    'vault-agent': /status 404; set agent_api \{ enable_quit = true \} in a listener of the agent$/,
    istio: /status 404; another program may listen on this port$/,
  };
  for (const [name, remedy] of Object.entries(remedies)) {
    it(`a failed quit call names the remedy of ${name}`, async (t) =>
      assert.match((await ask(t, name, switchedOff)).end.detail, remedy));
  }

  it('a quit call names --quitquitquit, without which a Cloud SQL proxy does not listen', async (t) => {
    const sidecar = await new SidecarLike(() => {}).listen(t);
    sidecar.leave();
    const { detail } = await run(quitOf('cloud-sql-proxy', sidecar.port));
    assert.equal(detail, 'nothing listened there; if it runs all the same, start the proxy with --quitquitquit');
  });
});

it('the quit call of Vault agent has the header that some of its listeners require', async (t) => {
  let head = '';
  await ask(t, 'vault-agent', (asked) => {
    head = asked.head;
    leaves(asked);
  });
  assert.match(head, /\r\nX-Vault-Request: true\r\n/);
});

describe('the first call to Envoy', () => {
  const last = '/quitquitquit';
  const prepared = (does: (asked: Asked) => unknown) => (asked: Asked) =>
    asked.path === last ? leaves(asked) : does(asked);
  const cases: Readonly<Record<string, (asked: Asked) => unknown>> = {
    'may be unknown to an older Envoy': ({ socket }) => answer(socket, 404),
    'may break the connection': ({ socket }) => socket.resetAndDestroy(),
    'may stay without an answer': () => {},
  };
  for (const [title, does] of Object.entries(cases)) {
    it(`the first call to Envoy ${title}, and the next one follows all the same`, async (t) => {
      const sidecar = await new SidecarLike(prepared(does)).listen(t);
      assert.equal((await run(quitOf('envoy', sidecar.port))).detail, 'it has gone');
      assert.deepEqual(sidecar.asked, callsOf('envoy'));
    });
  }

  it('the first call to Envoy is the only one when Envoy leaves at once', async (t) => {
    const sidecar = await new SidecarLike(leaves).listen(t);
    assert.equal((await run(quitOf('envoy', sidecar.port))).detail, 'it has gone');
    assert.deepEqual(sidecar.asked, ['POST /healthcheck/fail']);
  });
});

it('a look that fails for want of a descriptor is no proof that the sidecar has gone', async () => {
  const words = ['-c', 'ulimit -n 64 && exec "$0" "$1"', process.execPath, join(import.meta.dirname, 'crowded.ts')];
  const { stdout } = await promisify(execFile)('/bin/sh', words, { timeout: 120_000 });
  assert.equal(stdout, 'false it was asked (status 200), but whether it has gone cannot be seen: too many open files');
});

function quitOf(name: string, port: number): QuitAction {
  const parsed = parseQuit(`${name}:${port}`);
  assert.ok(parsed.ok);
  return parsed.value;
}

function callsOf(name: string): readonly string[] {
  return (SIDECARS[name]?.quit.paths ?? []).map((path) => `POST ${path}`);
}

async function ask(
  t: TestContext,
  name: string,
  does: Case['does'],
): Promise<{ readonly sidecar: SidecarLike; readonly end: ActionEnd }> {
  const last = SIDECARS[name]?.quit.paths.at(-1);
  let running: RunningAction | undefined;
  const sidecar = await new SidecarLike((asked) => {
    if (asked.path === last) void does(asked, () => running?.expire(), t);
    else ok(asked.socket);
  }).listen(t);
  const end = new Promise<ActionEnd>((onEnd) => {
    running = startAction(quitOf(name, sidecar.port), { timeoutMs: FAR_MS, onEnd });
  });
  return { sidecar, end: await within(`the end of the quit call of ${name}`, end) };
}

/** Its time is over when the test says so. */
const FAR_MS = 600_000;

function pour(socket: Socket, head: string): void {
  const chunk = 'x'.repeat(65_536);
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  socket.write(head);
  more();
}
