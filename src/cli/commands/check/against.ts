/** `sexton report --against FILE`: reads the manifests, and sets beside each pod what its own lets expect. */
import { check } from '../../../check/check.ts';
import { collect } from '../../../check/files.ts';
import { predictionFor } from '../../../check/prediction.ts';
import { fileSettings, settingsOf } from '../../../check/settings.ts';
import { flagLabel } from '../../../config/given.ts';
import type { PodStop } from '../../../report/stop.ts';
import { accepted } from '../arguments.ts';
import { settingsFor } from './settings-for.ts';

export async function withPredictions(pods: readonly PodStop[], path: string): Promise<readonly PodStop[]> {
  const { inputs, unreadable } = collect([path], () => Buffer.of());
  // As `sexton check` has them in this directory.
  const { images } = settingsFor('report', () => settingsOf({ images: fileSettings().images }));
  const checked = await check(inputs, { only: [], images });
  const result = { ...checked, unreadable: [...unreadable, ...checked.unreadable] };
  return pods.map((pod) => {
    return { ...pod, prediction: accepted('report', flagLabel('against', path), predictionFor(pod, result)) };
  });
}
