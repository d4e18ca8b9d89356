/**
 * A Job in a service mesh, as processes on this machine: its work and a proxy that cannot be wrapped. Without sexton
 * and with it, where the work succeeds and where it fails. The work and the proxy begin at the same time, and the proxy
 * takes a while to be ready.
 *
 * Exits with 0 when without sexton the work found no network and the proxy ran on, and with it each exit code was that
 * of the work and the proxy had gone.
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, freePort, NODE, onStage, printTable, SEXTON, type Stage } from '../stage.ts';

interface Mesh {
  readonly proxy: Actor;
  readonly env: Readonly<Record<'AGENT_PORT' | 'READY_PORT' | 'PROXY_PORT', string>>;
}

type Command = (mesh: Mesh) => readonly [file: string, ...args: string[]];

interface Outcome {
  readonly code: number;
  /** What the proxy ended with; undefined: it runs on. */
  readonly proxyCode: number | undefined;
}

const HERE = import.meta.dirname;
/** What the work ends with when nothing passes its traffic on. */
const NO_NETWORK = 9;
const bare: Command = () => [NODE, join(HERE, 'work.mjs')];
const underSexton: Command = (mesh) => {
  const { AGENT_PORT, READY_PORT } = mesh.env;
  const flags = ['--start-after', `istio:${READY_PORT}=ready`, '--quit', `istio:${AGENT_PORT}`];
  const rest = ['--restart-policy', 'Never', '--log-level', 'error'];
  return [SEXTON, 'run', ...flags, ...rest, '--', ...bare(mesh)];
};

await onStage('istio', async (stage) => {
  const without = await runJob(stage, bare, 0);
  const succeeding = await runJob(stage, underSexton, 0);
  const failing = await runJob(stage, underSexton, 3);
  printTable(
    ['', 'WORK', 'PROXY', 'JOB'],
    [
      ['without sexton', ...shown(without)],
      ['with sexton', ...shown(succeeding)],
      ['with sexton, the work fails', ...shown(failing)],
    ],
  );
  const asExpected: readonly (readonly [Outcome, Outcome])[] = [
    [without, { code: NO_NETWORK, proxyCode: undefined }],
    [succeeding, { code: 0, proxyCode: 0 }],
    [failing, { code: 3, proxyCode: 0 }],
  ];
  return asExpected.every(([is, wanted]) => is.code === wanted.code && is.proxyCode === wanted.proxyCode);
});

async function runJob(stage: Stage, command: Command, workExit: number): Promise<Outcome> {
  const mesh = await startMesh(stage);
  const [file, ...args] = command(mesh);
  const work = stage.launch(file, args, { ...mesh.env, WORK_EXIT: String(workExit) });
  const code = await work.ended;
  // sexton ends only when the proxy's port is closed. One that is still there is not asked to leave.
  if (await isThere(mesh)) {
    mesh.proxy.process.kill('SIGKILL');
    return { code, proxyCode: undefined };
  }
  return { code, proxyCode: await mesh.proxy.ended };
}

/** Its proxy runs, and is not ready yet. */
async function startMesh(stage: Stage): Promise<Mesh> {
  const [agentPort, readyPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const env = { AGENT_PORT: String(agentPort), READY_PORT: String(readyPort), PROXY_PORT: String(proxyPort) };
  const mesh = { proxy: stage.launch(NODE, [join(HERE, 'istio-like.mjs')], env), env };
  for (let tries = 0; !(await isThere(mesh)); tries += 1) {
    if (tries > 3_000) throw new Error('waited a minute for the proxy to be there; see the messages above');
    await sleep(20);
  }
  return mesh;
}

function isThere({ env }: Mesh): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(env.AGENT_PORT) });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function shown({ code, proxyCode }: Outcome): readonly string[] {
  const proxy = proxyCode === undefined ? 'runs on' : `gone, ${proxyCode}`;
  const job = proxyCode === undefined ? 'never ends' : code === 0 ? 'complete' : 'failed, tried again';
  return [`exit code ${code}`, proxy, job];
}
