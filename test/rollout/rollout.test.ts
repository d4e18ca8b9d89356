/** The experiment in short: nginx behind haproxy, which notices a second late that one of its two servers goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempGraveyard } from '../helpers/scratch.ts';
import { type Company, experiment, type Outcome } from './experiment.ts';
import { whatIsMissing } from './servers.ts';

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

async function stopped(
  t: Parameters<typeof tempGraveyard>[0],
  drain: string | undefined,
  company: Company,
  noticesAfterMs = NOTICES_MS,
): Promise<Outcome> {
  return experiment(await tempGraveyard(t), 'it', { drain, noticesAfterMs, company });
}
