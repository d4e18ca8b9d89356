/**
 * A graceful stop of a real server has five signs. The body in flight is complete, and no request failed under a
 * constant load up to the end of the drain. The server's files are clean, it exits with the planned code and without a
 * KILL, and its own log has the request. The control is the same server, which loses the same request by the wrong
 * signal.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { type Exchange, getByHttp, isAnswering, isRefused, openFlight, startLoad, WHOLE } from './clients.ts';
import { prepareStage, type Stage } from './stage.ts';

export interface Planned {
  /** The preset's name and ladder. */
  readonly preset: string;
  readonly ladder: string;
  /** What the process itself exits with. */
  readonly status?: number;
}

export interface Installed {
  readonly program: string;
  /** Debian's names. */
  readonly packages: string;
}

export interface HttpServer extends Planned, Installed {
  /** Writes its configuration and answers with its command. */
  readonly prepare: (stage: Stage) => readonly string[];
  /** For the test's title, where it is not the preset's name. */
  readonly title?: string;
  /** By what has been written: all of its processes are there, where one that comes up later may miss its stop. */
  readonly isUp?: (output: string) => boolean;
  /** A signal that cuts what is in flight. */
  readonly wrong: string;
  /** What it says of its stop, in its log or on its output. */
  readonly says?: RegExp;
  /** It listens to the end, though it takes no request any more: what it says when it has begun to stop. */
  readonly keepsSocket?: RegExp;
  /** Throws when what it leaves is not clean. */
  readonly isClean: (stage: Stage, output: string) => void;
  readonly warns?: RegExp;
  readonly env?: Readonly<Record<string, string>>;
  /** How it is asked, if not by HTTP. */
  readonly exchange?: (stage: Stage) => Exchange;
}

export const LOG = 'server.log';

export function testGracefulStop(server: HttpServer): void {
  const { preset, title = preset } = server;
  const skip = skipOf(server);

  test(`${title} ends gracefully by --stop auto`, { skip }, async (t) => {
    const stage = await prepareStage(t);
    const container = await serve(server, stage, ['--stop', 'auto', '--drain', '10m']);
    const exchange = exchangeOf(server, stage);
    const load = startLoad(stage, exchange);
    await waitFor('the load is served', () => load.answered() >= 10);
    await container.signal('SIGTERM');
    await waitFor('it drains', () => container.stderr().includes('draining'));
    const before = load.answered();
    await waitFor('the load is served in the drain', () => load.answered() >= before + 20);
    // The balancer has noticed; what is in flight is all there is.
    assert.deepEqual(await load.stop(), [], 'a request of the load has failed');
    const flight = await openFlight(stage, exchange);
    await container.signal('SIGINT');
    const taken = server.keepsSocket;
    await waitFor('it is told', () =>
      taken === undefined ? isRefused(stage) : taken.test(logOf(stage) + outputOf(container)),
    );
    stage.release();
    assert.deepEqual(await within('the response ends', flight.ended), WHOLE);
    const output = await endOf(container, server);
    if (server.says) assert.match(logOf(stage) + output, server.says);
    if (server.warns) assert.match(output, server.warns);
    else assert.doesNotMatch(output, /"level":"warn".*--stop/);
    server.isClean(stage, output);
  });

  testCut(server);
}

/** Asserts that sexton reports a graceful end by the preset. Returns all that was written. */
export async function endOf(container: Container, { preset, ladder, status = 0 }: Planned): Promise<string> {
  const exit = await container.exit();
  const output = outputOf(container);
  assert.match(output, new RegExp(`stop ladder ${ladder} by preset ${preset} for `));
  assert.deepEqual(deathIn(output), { reason: 'stopped', exitCode: status, containerExitCode: 0 });
  assert.equal(exit.status, 0);
  assert.doesNotMatch(output, /"message":"killing/);
  return output;
}

/** The control: what the wrong signal does. */
export function testCut(server: HttpServer): void {
  const { preset, wrong, title = preset } = server;
  test(`${title} cuts the same request when it gets ${wrong} (the control)`, { skip: skipOf(server) }, async (t) => {
    const stage = await prepareStage(t);
    const container = await serve(server, stage, ['--stop', wrong]);
    const flight = await openFlight(stage, exchangeOf(server, stage));
    await container.signal('SIGTERM');
    assert.notDeepEqual(await within('the response is cut', flight.ended), WHOLE);
    await container.kill();
  });
}

export async function serve(server: HttpServer, stage: Stage, flags: readonly string[]): Promise<Container> {
  const { preset: name, env = {}, isUp = () => true } = server;
  const container = startContainer(stage.scratch, { name, flags, env, command: server.prepare(stage) });
  stage.scratch.describe(() => logOf(stage));
  await waitFor(`${name} answers`, () => isUp(outputOf(container)) && isAnswering(stage, exchangeOf(server, stage)));
  return container;
}

export function outputOf(container: Container): string {
  return container.stderr() + container.stdout();
}

export function skipOf({ program, packages }: Installed): string | false {
  return existsSync(program) ? false : `${program} is not installed (apt-get install ${packages})`;
}

export function exchangeOf({ exchange }: HttpServer, stage: Stage): Exchange {
  return exchange?.(stage) ?? getByHttp;
}

export function logOf(stage: Stage): string {
  return existsSync(stage.scratch.path(LOG)) ? readFileSync(stage.scratch.path(LOG), 'utf8') : '';
}

/** What the last line of sexton says of the end. */
export function deathIn(output: string): Readonly<Record<string, unknown>> {
  const line = output.split('\n').findLast((text) => text.startsWith('{') && text.includes('"message":"dead"'));
  assert.ok(line, `no line about its death in ${output}`);
  const { reason, exitCode, containerExitCode } = JSON.parse(line) as Record<string, unknown>;
  return { reason, exitCode, containerExitCode };
}
