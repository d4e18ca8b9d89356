/** The `--idle-when` that the page of drains has for a server, asked of the real one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Container } from '../helpers/container.ts';
import { ROOT } from '../helpers/paths.ts';
import { waitFor, within } from '../helpers/wait.ts';
import { getByHttp, httpWith, isAnswering, openFlight, WHOLE } from './clients.ts';
import { endOf, exchangeOf, type HttpServer, outputOf, serve, skipOf } from './graceful-stop.ts';
import { prepareStage, type Stage } from './stage.ts';

export interface IdlePage {
  /** The metric of its line on the page. */
  readonly metric: string;
  /** Where the server of the test has its metrics. */
  readonly port: number;
  /** The same check where it counts its own question. */
  readonly miscounting: (check: string) => string;
}

export function testIdleCheck(server: HttpServer, { metric, port, miscounting }: IdlePage): void {
  const { preset } = server;
  const skip = skipOf(server);
  const page = readFileSync(join(ROOT, 'docs', 'drain.md'), 'utf8');
  const [, path = ''] = new RegExp(`^\\|.*\`http://:\\d+(/.*,metric=${metric})\``, 'm').exec(page) ?? [];
  const drained = (stage: Stage, check: string): Promise<Container> => {
    const idleWhen = `http://${stage.host}:${port}${check}`;
    const drain = ['--drain', 'min=0,quiet=off,max=30m', '--grace-period', '1h', '--idle-when', idleWhen];
    return serve(server, stage, ['--stop', 'auto', '--log-level', 'debug', ...drain]);
  };

  test(`${preset} serves until no request is under way with the --idle-when of the page`, { skip }, async (t) => {
    const stage = await prepareStage(t);
    const container = await drained(stage, path);
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const exchange = exchangeOf(server, stage);
    if (exchange === getByHttp) assert.ok(await isAnswering(stage, httpWith(agent)), 'an idle connection is kept');
    const flight = await openFlight(stage, exchange);
    await container.signal('SIGTERM');
    await waitFor('it is busy', () => answersIn(container).at(-1) === 1);
    assert.ok(await isAnswering(stage, exchange), 'a new request is answered');
    stage.release();
    assert.deepEqual(await within('the response ends', flight.ended), WHOLE);
    await waitFor('it is idle', () => outputOf(container).includes('the drain is over: the application is idle'));
    agent.destroy();
    await endOf(container, server);
  });

  test(`${preset} is never idle where its metric counts the question (the control)`, { skip }, async (t) => {
    const container = await drained(await prepareStage(t), miscounting(path));
    await container.signal('SIGTERM');
    await waitFor('it stays busy', () => `${answersIn(container).slice(-3)}` === '1,1,1');
    await container.signal('SIGINT');
    assert.match(await endOf(container, server), /the drain is over: asked to stop again/);
  });
}

/** All answers to the question by the log; NaN for one without a number. */
function answersIn(container: Container): readonly number[] {
  const lines = outputOf(container).matchAll(/"busy":"(.+?)".*"the application is (?:busy|idle)"/g);
  return [...lines].map(([, busy]) => (busy === 'idle' ? 0 : Number(busy)));
}
