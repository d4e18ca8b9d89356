/**
 * One test with a graveyard of its own. When it fails, its error also tells what all the members did and said: a pod that
 * went wrong once in a hundred runs is not to be guessed at.
 */
import { type TestContext, test } from 'node:test';
import { buildFixtures, type Fixtures } from './fixture.ts';
import { type Scratch, tempGraveyard } from './scratch.ts';
import { readTimeline } from './timeline.ts';

/** The backstop: far beyond every wait inside. */
const TIMEOUT_MS = 120_000;

export interface Stage {
  readonly t: TestContext;
  readonly scratch: Scratch;
  readonly fixtures: Fixtures;
}

export function scenario(title: string, body: (stage: Stage) => Promise<void>, timeoutMs: number = TIMEOUT_MS): void {
  test(title, { timeout: timeoutMs }, async (t) => {
    const fixtures = await buildFixtures();
    const scratch = await tempGraveyard(t);
    try {
      await body({ t, scratch, fixtures });
    } catch (error) {
      if (error instanceof Error)
        error.message += `\n--- events\n${readTimeline(scratch.log)}--- members\n${scratch.story()}`;
      throw error;
    }
  });
}
