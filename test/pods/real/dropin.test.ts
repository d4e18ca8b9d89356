/** Sexton in real containers under other names: pods written for kubexit, entrypoints that copy the program alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEXTON } from '../../helpers/paths.ts';
import { podman } from '../../helpers/podman.ts';
import { readTimeline } from '../../helpers/timeline.ts';
import { sharedImages } from './images.ts';
import { withPod } from './pod.ts';

const images = sharedImages();

for (const [file, main, sidecar, exit] of [
  ['kubexit-client-server.yaml', 'client', 'server', 0],
  ['kubexit-sql-proxy.yaml', 'psql', 'cloudsql-proxy', 0],
  ['kubexit-sql-proxy.yaml', 'psql', 'cloudsql-proxy', 3],
] as const) {
  test(`C02 ${file} completes with ${main} exiting ${exit} inside the life of ${sidecar}`, async () => {
    await withPod(file, { IMAGE: images().busybox, EXIT: exit }, async (pod) => {
      assert.deepEqual([await pod.exitOf(main), await pod.exitOf(sidecar)], [exit, 0]);
      const log = readTimeline(pod.log);
      log.startsBefore(sidecar, main);
      log.exitsBeforeSignalTo(main, sidecar);
      log.notRestarted(sidecar);
    });
  });
}

test('C03 C04 a copy of the program under another init’s name finds the rest in /sexton', async () => {
  for (const name of ['tini', 'dumb-init']) {
    const copy = `--volume=${SEXTON}:/init/${name}:ro`;
    const words = [`--entrypoint=/init/${name}`, images().bare, '--', '/member', 'run=1', 'exit=7'];
    await assert.rejects(podman('run', '--rm', '--network=none', '--pull=never', copy, ...words), { code: 7 });
  }
});
