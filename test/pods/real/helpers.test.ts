/** Probes and hooks by command in an image that has one static program and nothing else: no shell, no libc, no /tmp. */
import assert from 'node:assert/strict';
import { podman } from '../../helpers/podman.ts';
import { scenario } from '../../helpers/scenario.ts';
import { readTimeline, waitForEvent } from '../../helpers/timeline.ts';
import { readTombstone, waitForTombstone } from '../../helpers/tombstone.ts';
import { application, withContainer } from './container.ts';
import { sharedImages } from './images.ts';

const images = sharedImages();

const RESTRICTED = ['--user=12345:12345', '--read-only', '--cap-drop=all', '--security-opt=no-new-privileges'];

scenario('N07 in a bare image a restricted container has its own program as probe and hook', async (stage) => {
  const { log, graveyard } = stage.scratch;
  const exec = (name: string, options = {}): string => `exec:${application(stage, name, options).join(' ')}`;
  const command = [
    ...['run', '--name', 'app', '--graveyard', graveyard, '--restart-policy', 'Never', '--restart', 'on-failure'],
    ...['--startup', `${exec('startup', { run: 1 })},period=1s`, '--post-start', exec('begin', { run: 1 })],
    // The first probe of all fails, and with it the first life.
    ...[
      '--liveness',
      `${exec('probe', { run: 1, exits: '1,0', counter: stage.scratch.path('probes') })},period=1s,failures=1`,
    ],
    ...['--pre-stop', exec('bye', { run: 1 }), '--', ...application(stage, 'app')],
  ];
  await withContainer(stage, { image: images().bare, podman: RESTRICTED, command }, async (container) => {
    await container.start();
    await waitForEvent(log, 'app', 'Starting', 2);
    await waitForTombstone(
      graveyard,
      'app',
      'has started again',
      (it) => it.Started !== undefined && it.Restarts === 1,
    );
    await waitForEvent(log, 'probe', 'Exiting', 3);
    await podman('stop', '--time=60', container.name);
    assert.equal(await container.exit(), 0);
  });
  const timeline = readTimeline(log);
  assert.deepEqual(
    ['app', 'begin', 'bye'].map((name) => timeline.of(name, 'Exiting').length),
    [2, 2, 2],
    'each once in each life',
  );
  timeline.exitsBefore('bye', 'app');
  assert.equal(readTombstone(graveyard, 'app')?.LastReason, 'stopped');
});
