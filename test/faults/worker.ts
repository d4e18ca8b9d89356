/**
 * A process that plays rounds, one at a time: it is told a seed and tells the result. Started in a mount namespace of its own, so that
 * what a round mounts is seen by nobody else, and is gone at the latest when this process is.
 */
import { buildFixtures } from '../helpers/fixture.ts';
import { playRound } from './round.ts';

const fixtures = await buildFixtures();
const [isRoot, isStrict] = [process.argv.includes('root'), process.argv.includes('strict')];

process.on('message', (seed: number) => {
  void playRound(seed, fixtures, { isRoot, isStrict }).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
