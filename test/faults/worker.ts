/**
 * A process that plays rounds, one at a time: it receives a seed and sends the result. It runs in a mount namespace of
 * its own, so that no other process sees what a round mounts. The mounts are gone at the latest when this process is.
 */
import { buildFixtures } from '../helpers/fixture.ts';
import { send } from '../helpers/process.ts';
import { playRound } from './round.ts';
import { below } from './strike.ts';

const fixtures = await buildFixtures();
const [isRoot, isStrict] = [process.argv.includes('root'), process.argv.includes('strict')];

process.on('message', (seed: number) => {
  void playRound(seed, fixtures, { isRoot, isStrict }).then((result) => process.send?.(result));
});
process.on('disconnect', () => {
  // The run was cancelled: its processes would outlive this one.
  for (const pid of below(process.pid)) send(pid, 'SIGKILL');
  process.exit();
});
process.send?.('ready');
