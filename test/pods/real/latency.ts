/**
 * `node test/pods/real/latency.ts [ROUNDS]`: milliseconds from the main's exit to the sidecar's TERM, each in a container of its
 * own, by the clock that both fixtures log with. One line per round, then the median.
 */
import { buildImages } from '../../../docker/build.ts';
import { buildFixtures } from '../../helpers/fixture.ts';
import { readTimeline } from '../../helpers/timeline.ts';
import { withPod } from './pod.ts';

const rounds = Number(process.argv[2] ?? 20);
const { member } = await buildFixtures();
const images = await buildImages(member);
const measured: number[] = [];
try {
  for (let round = 1; round <= rounds; round += 1) {
    await withPod('job.yaml', { IMAGE: images.bare, EXIT: 0 }, async (pod) => {
      await Promise.all([pod.exitOf('work'), pod.exitOf('proxy')]);
      const log = readTimeline(pod.log);
      const tookMs = log.at('proxy', 'Signal').atMs - log.last('work', 'Exiting').atMs;
      measured.push(tookMs);
      process.stdout.write(`${round}: ${tookMs.toFixed(1)} ms\n`);
    });
  }
} finally {
  await images.remove();
}
measured.sort((a, b) => a - b);
const at = (share: number): string => (measured[Math.floor((measured.length - 1) * share)] ?? Number.NaN).toFixed(1);
process.stdout.write(
  `main's exit to sidecar's TERM: median ${at(0.5)} ms, ${at(0)} to ${at(1)} ms, ${rounds} rounds\n`,
);
