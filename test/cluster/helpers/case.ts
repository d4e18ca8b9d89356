/** A test of the cluster: with a far limit, and with the story of its pods when it fails. */
import { type TestContext, test } from 'node:test';
import { podsOf } from './pod.ts';

const LIMIT_MS = 240_000;

/** `skip`: why it cannot run on this cluster, which is asked when its turn comes. */
export function clusterTest(
  title: string,
  body: (t: TestContext) => Promise<void>,
  skip: () => Promise<string | undefined> = async () => undefined,
): void {
  test(title, { timeout: LIMIT_MS }, async (t) => {
    const reason = await skip();
    if (reason !== undefined) return t.skip(`not on this cluster: ${reason}`);
    try {
      await body(t);
    } catch (error) {
      const stories = await Promise.all(podsOf(t).map((pod) => pod.story()));
      if (error instanceof Error) {
        error.message += `\n${stories.join('\n')}`;
        // What is shown of an error is its stack, which keeps the message that it was made with.
        error.stack += `\n${stories.join('\n')}`;
      }
      throw error;
    }
  });
}
