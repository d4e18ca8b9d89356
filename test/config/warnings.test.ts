/** What is allowed but most likely not meant: one warning each, and none where all is as it should be. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filesOf, resolvedWithFile } from './files.ts';

async function warnings(...argv: readonly string[]): Promise<readonly string[]> {
  const files = filesOf({ '/c.json': '{"command": ["sleep", "$(TIME)"]}' });
  const words = [...argv, ...(argv.some((word) => ['--config', '--'].includes(word)) ? [] : ['--', 'app'])];
  return (await resolvedWithFile(words, {}, files)).warnings;
}

const POLICY = "--restart-policy is not declared, Never is assumed; declare the pod's restartPolicy";
const SHARED = ['--graveyard', '/g', '--restart-policy', 'Never'];

describe('a warning is given', () => {
  const EXPECTED: readonly (readonly [string, readonly string[], string])[] = [
    ['for an undeclared policy of a sidecar', ['--graveyard', '/g', '--role', 'sidecar'], POLICY],
    ['for an undeclared policy of a main with a graveyard', ['--graveyard', '/g'], POLICY],
    ['for an undeclared policy of a main that ends its sidecars', ['--quit', 'istio'], POLICY],
    ...['--linger 2s', '--hold never', '--mains app'].map((flag) => {
      const warning = `${flag}: has no effect on a main; give --role sidecar or leave it out`;
      return [`for ${flag} on a main`, [...SHARED, ...flag.split(' ')], warning] as const;
    }),
    [
      'for a gate timeout without a gate',
      ['--start-timeout', '5s'],
      '--start-timeout 5s: has no effect without --start-after; leave it out',
    ],
    [
      'for quit calls where no end is the last one',
      ['--quit', 'istio', '--restart-policy', 'Always'],
      '--quit istio: has no effect under --restart-policy Always, where no end is final; leave it out, or declare the policy that the pod has',
    ],
    [
      'for what /readyz answers in a drain where no one can ask',
      ['--readyz-on-drain', 'fail'],
      '--readyz-on-drain fail: has no effect without --http; leave it out',
    ],
    [
      'for a hook of the platform where there are no others to tell',
      ['--platform-pre-stop', '5s'],
      '--platform-pre-stop 5s: has no effect without a graveyard; leave it out',
    ],
    ...['--drain 5s', '--pre-stop sleep:5s', '--idle-when file:/idle'].map((flag) => {
      const warning = `${flag}: has no effect with --stop-signals none where there is no graveyard; leave it out`;
      const grace = flag.startsWith('--idle') ? ['--grace-period', '20s'] : [];
      return [
        `for ${flag} where nothing asks to stop`,
        ['--stop-signals', 'none', ...grace, ...flag.split(' ')],
        warning,
      ] as const;
    }),
    [
      'for a drain beyond what a pod usually has',
      ['--drain', '30s'],
      '--drain 30s: a pod has 30s unless it declares more; declare its grace period with --grace-period',
    ],
    [
      'for a translation that the ladder overrides',
      ['--stop', 'QUIT:5s,KILL', '--signals', 'TERM:INT'],
      '--signals TERM:INT: its translation of TERM has no effect, --stop QUIT:5s,KILL begins with its own signal',
    ],
    [
      'for a last rung with a time',
      ['--stop', 'TERM:20s'],
      '--stop TERM:20s: nothing follows the last rung, so its time has no effect; add ,KILL to end the command then',
    ],
    [
      'for a member that is called as its shell is',
      [...SHARED, '--', 'sh', '-c', 'x'],
      '--name is not declared, sh is taken from the command; two members of one name overwrite each other',
    ],
    [
      'for a reference in a command of a file',
      ['--config', '/c.json'],
      '$(TIME) in /c.json: $(NAME) is not expanded here; write the value',
    ],
  ];
  for (const [title, argv, warning] of EXPECTED) {
    it(title, async () => assert.deepEqual(await warnings(...argv), [warning]));
  }
});

describe('no warning is given', () => {
  const QUIET: readonly (readonly [string, readonly string[]])[] = [
    ['to a plain init, whatever the policy', []],
    ['to a main that declares its policy', SHARED],
    [
      'to a sidecar that lingers and holds',
      [...SHARED, '--role=sidecar', '--linger=1s', '--hold=2s', '--mains=work', '--when=any'],
    ],
    ['to quit calls after the last end', ['--quit', 'istio', '--restart-policy', 'OnFailure']],
    [
      'to a sidecar whose probes an adaptive drain does not count',
      ['--quit', 'istio', '--restart-policy', 'Always', '--drain', 'quiet=2s'],
    ],
    ['to what /readyz answers in a drain', ['--http', ':8080', '--readyz-on-drain', 'fail']],
    ['to a hook of the platform beside a graveyard', [...SHARED, '--platform-pre-stop', '5s']],
    [
      'to a drain and a hook where sexton stop asks to stop',
      [...SHARED, '--stop-signals', 'none', '--drain', '5s', '--pre-stop', 'sleep:5s'],
    ],
    ...['--startup tcp://:80', '--liveness tcp://:80', '--post-start tcp://:80', '--notify command,watchdog=5s'].map(
      (flag) => {
        const argv = ['--stop-signals', 'none', '--pre-stop', 'sleep:5s', ...flag.split(' ')];
        return [`to a hook where a failure ends the command: ${flag}`, argv] as const;
      },
    ),
    [
      'to a drain where a failure restarts the pod',
      ['--stop-signals', 'none', '--drain', '5s', '--liveness', 'tcp://:80', '--restart-pod-on', 'liveness'],
    ],
    [
      'to a hook behind a drain that may end before the grace floor',
      ['--grace-floor', '10s', '--drain', 'max=12s', '--pre-stop', 'sleep:5s'],
    ],
    [
      'to a hook that a sidecar has time for when its mains have finished',
      [...SHARED, '--role=sidecar', '--grace-floor=3s', '--pre-stop=sleep:5s'],
    ],
    ['to a long drain with a longer grace period', ['--drain', '30s', '--grace-period', '60s']],
    ['to a translation of another signal beside a ladder', ['--stop', 'QUIT:5s,KILL', '--signals', 'HUP:USR1']],
  ];
  for (const [title, argv] of QUIET) {
    it(title, async () => assert.deepEqual(await warnings(...argv), []));
  }
});
