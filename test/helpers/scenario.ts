/** One test with a graveyard of its own. When it fails, its error also shows what all members did and wrote. */
import { type TestContext, test } from 'node:test';
import { ENGINE, titled } from './engine.ts';
import { buildFixtures, type Fixtures } from './fixture.ts';
import { type Scratch, tempGraveyard } from './scratch.ts';
import { readTimeline } from './timeline.ts';

/** The backstop: far beyond every wait inside. */
const TIMEOUT_MS = 300_000;

export interface Stage {
  readonly t: TestContext;
  readonly scratch: Scratch;
  readonly fixtures: Fixtures;
}

export interface ScenarioOptions {
  readonly timeoutMs?: number;
  readonly notInPodman?: string;
}

export function scenario(
  title: string,
  body: (stage: Stage) => Promise<void>,
  { timeoutMs = TIMEOUT_MS, notInPodman }: ScenarioOptions = {},
): void {
  const skip = ENGINE === 'podman' && notInPodman !== undefined ? `not in podman: ${notInPodman}` : false;
  test(titled(title), { timeout: timeoutMs, skip }, async (t) => {
    const fixtures = await buildFixtures();
    const scratch = await tempGraveyard(t);
    try {
      await body({ t, scratch, fixtures });
    } catch (error) {
      if (error instanceof Error) {
        const story = `\n--- events\n${readTimeline(scratch.log)}--- members\n${scratch.story()}`;
        error.message += story;
        // The report shows the stack, which keeps the message that the error was made with.
        error.stack += story;
      }
      throw error;
    }
  });
}
