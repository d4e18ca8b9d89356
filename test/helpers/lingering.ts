/** A peer that sends descriptors whose close sleeps for an hour; see lingering.py. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { FIXTURE_SOURCES } from './paths.ts';
import { waitFor } from './wait.ts';

export interface Lingering {
  output(): string;
  says(text: string): Promise<void>;
  /** Goes on with what it does, once for each connection. */
  goOn(times?: number): void;
}

/** Until the body is over. */
export async function withLingering(words: readonly string[], body: (peer: Lingering) => Promise<void>): Promise<void> {
  const program = join(FIXTURE_SOURCES, 'lingering.py');
  const child = spawn('python3', [program, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  try {
    await body({
      output: () => output,
      says: async (text) => void (await waitFor(`it says ${text}`, () => output.includes(text))),
      goOn: (times = 1) => child.stdin.write('\n'.repeat(times)),
    });
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
}
