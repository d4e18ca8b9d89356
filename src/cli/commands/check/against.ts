/** `sexton report --against FILE`: reads the manifests, and sets beside each pod what its own lets expect. */
import { check } from '../../../check/check.ts';
import { collect } from '../../../check/files.ts';
import { predictionFor } from '../../../check/prediction.ts';
import { fileSettings, SettingError, settingsOf } from '../../../check/settings.ts';
import type { Images } from '../../../check/stop/images.ts';
import { show } from '../../../config/notation/parse.ts';
import type { PodStop } from '../../../report/stop.ts';
import { badArguments } from '../arguments.ts';

export async function withPredictions(pods: readonly PodStop[], path: string): Promise<readonly PodStop[]> {
  const { inputs, unreadable } = collect([path], () => Buffer.of());
  const checked = await check(inputs, { only: [], images: imagesHere() });
  const result = { ...checked, unreadable: [...unreadable, ...checked.unreadable] };
  return pods.map((pod) => {
    const prediction = predictionFor(pod, result);
    if (!prediction.ok) throw badArguments('report', `--against ${show(path)}: ${prediction.why}`);
    return { ...pod, prediction: prediction.value };
  });
}

/** As `sexton check` has them in this directory. */
function imagesHere(): Images {
  try {
    return settingsOf({ images: fileSettings().images }).images;
  } catch (error) {
    throw error instanceof SettingError ? badArguments('report', error.message) : error;
  }
}
