/** The experiment in short: nginx behind haproxy, which notices a second late that one of its two servers goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempGraveyard } from '../helpers/scratch.ts';
import { type Company, experiment, type Outcome } from './experiment.ts';
import { whatIsMissing } from './servers.ts';
import { METRICS, stopAmongStreams } from './streams.ts';

const skip = whatIsMissing();

/** So long a pause no client makes on any machine, and so long no balancer needs: only that it is quiet ends it. */
const DRAIN = 'min=1s,quiet=10s,max=10m';
const NOTICES_MS = 1_000;
/** Time enough for the server to be gone before. */
const NOTICES_LATE_MS = 5_000;

test('without sexton requests fail until the balancer has noticed (the control)', { skip }, async (t) => {
  const { failed } = await stopped(t, undefined, 'alone', NOTICES_LATE_MS);
  assert.ok(failed > 0);
});

for (const company of ['alone', 'keep-alive'] as const)
  test(`with an adaptive drain none fails, and it ends when it is quiet: ${company}`, { skip }, async (t) => {
    const { asked, failed, log } = await stopped(t, DRAIN, company);
    assert.ok(asked > 0);
    assert.equal(failed, 0);
    assert.match(log, /"why":"quiet"/);
  });

test('with --idle-when no stream is cut, though the metrics get no answer for a time', { skip }, async (t) => {
  const flags = ['--drain', DRAIN.replace('quiet=10s', 'quiet=1s'), '--idle-when', METRICS];
  const plan = { flags, outageMs: 2_500, longestMs: 6_000 };
  const { asked, cut, log } = await stopAmongStreams(await tempGraveyard(t), 'streams', plan);
  assert.ok(asked >= 10);
  assert.equal(cut, 0);
  assert.match(log, /"why":"idle"/);
});

async function stopped(
  t: Parameters<typeof tempGraveyard>[0],
  drain: string | undefined,
  company: Company,
  noticesAfterMs = NOTICES_MS,
): Promise<Outcome> {
  return experiment(await tempGraveyard(t), 'it', { drain, noticesAfterMs, company });
}
