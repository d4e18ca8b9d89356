/** B3: what an image has in /etc is for the command, and must not reach the Node that sexton brings along. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { type Stage, scenario } from '../helpers/scenario.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';

const NOT_IN_PODMAN = 'an image of its own would be needed';

/** Every process that loads it says so, by the program that it runs. */
const PRELOADED = `
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void tell(void) {
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  int fd = open(TOLD, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd == -1 || length < 0) return;
  program[length++] = 10;
  if (write(fd, program, length) < 0) _exit(99);
  close(fd);
}
`;

/** A provider that is not there; Node ends at its start with such a configuration. */
const BROKEN_OPENSSL = `nodejs_conf = start
openssl_conf = start
[start]
providers = list
[list]
absent = absent
[absent]
activate = 1
module = /nowhere/absent.so
`;

describe("an image's own files", () => {
  scenario(
    'B3 /etc/ld.so.preload is loaded into the command and not into the supervisor',
    async (stage) => {
      const told = stage.scratch.path('told');
      const library = stage.scratch.path('preloaded.so');
      execFileSync('cc', ['-shared', '-fPIC', `-DTOLD="${told}"`, '-xc', '-', '-o', library], { input: PRELOADED });
      const container = startWithEtc(stage, 'ld.so.preload', `${library}\n`);
      await isSupervised(stage);
      await container.signal('SIGTERM');
      assert.equal((await container.exit()).status, 143);
      const programs = readFileSync(told, 'utf8').trim().split('\n');
      assert.ok(
        programs.some((it) => it.endsWith('/sleep')),
        `the command has it: ${programs}`,
      );
      assert.deepEqual(
        programs.filter((it) => /node|ld-linux|sexton/.test(it)),
        [],
      );
    },
    { notInPodman: NOT_IN_PODMAN },
  );

  scenario(
    'B3 a supervisor starts whatever /etc/ssl/openssl.cnf says',
    async (stage) => {
      const container = startWithEtc(stage, 'ssl/openssl.cnf', BROKEN_OPENSSL);
      await isSupervised(stage);
      await container.signal('SIGTERM');
      assert.equal((await container.exit()).status, 143);
      assert.doesNotMatch(container.stderr(), /OpenSSL|cannot start/);
    },
    { notInPodman: NOT_IN_PODMAN },
  );
});

/** With a copy of /etc in which this file is another. */
function startWithEtc({ scratch }: Stage, file: string, content: string): Container {
  const etc = scratch.path('etc');
  mkdirSync(join(etc, 'ssl'), { recursive: true });
  cpSync('/etc/passwd', join(etc, 'passwd'));
  writeFileSync(join(etc, file), content);
  const inside = ['sh', '-c', `mount --bind ${etc} /etc && exec "$@"`, 'sh'];
  const flags = ['--name', 'app', '--graveyard', scratch.graveyard, '--restart-policy', 'Never'];
  return startContainer(scratch, { inside, flags, command: ['sleep', '600'] });
}

async function isSupervised({ scratch }: Stage): Promise<void> {
  await waitForTombstone(scratch.graveyard, 'app', 'runs', ({ Phase }) => Phase === 'running');
}
