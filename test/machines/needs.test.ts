/**
 * What becomes of a member that drains where a kernel, a sandbox or a seccomp profile refuses one thing that sexton uses.
 * A command that was started gets its stop signal, and a container that cannot work says why and starts nothing.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startContainer } from '../helpers/container.ts';
import { ROOT } from '../helpers/paths.ts';
import { childrenOf } from '../helpers/process.ts';
import { buildRefuse } from '../helpers/program.ts';
import { scenario } from '../helpers/scenario.ts';
import { readTombstone } from '../helpers/tombstone.ts';
import { waitFor } from '../helpers/wait.ts';
import { NEEDS, type Need, NO_SUPERVISOR } from './needs.ts';

const REFUSE = buildRefuse();

describe('a kernel that refuses', { concurrency: 3 }, () => {
  for (const need of NEEDS)
    for (const error of need.only === undefined ? (['EPERM', 'ENOSYS'] as const) : [need.only]) {
      const outcome = need.but === error ? opposite(need.outcome) : need.outcome;
      const says = need.but === error ? undefined : need.says;
      const title = `${need.what} with ${error}: a member that drains ${outcome === 'serves' ? 'gets its TERM' : 'says why it cannot start'}`;
      scenario(title, async ({ scratch }) => {
        const flags = ['--name', 'app', '--graveyard', scratch.graveyard, '--restart-policy', 'Never'];
        const container = startContainer(scratch, {
          inside: [REFUSE, need.what, error],
          flags: [...flags, '--grace-period', '10s', '--drain', '300ms', '--sleep-after', '300ms'],
          command: [REFUSE],
        });
        if (outcome === 'serves') {
          const isUp = () => container.stdout().includes('up\n');
          await waitFor('the command is up', isUp);
          const pid1 = await container.pid1();
          const isSettled = () =>
            readTombstone(scratch.graveyard, 'app')?.Phase === 'running' || childrenOf(pid1).length === 1;
          await waitFor('it runs, or is alone', isSettled);
          await container.signal('SIGTERM');
        }
        const { status } = await container.exit();
        const expected = outcome === 'serves' ? [0, 'up\nTERM\n'] : [125, ''];
        assert.deepEqual([status, container.stdout()], expected);
        if (says !== undefined) assert.match(container.stderr(), says);
        if (outcome === 'refuses' && need.without.startsWith(NO_SUPERVISOR)) {
          const plain = startContainer(scratch, { inside: [REFUSE, need.what, error], command: [REFUSE] });
          await waitFor('the plain command is up', () => plain.stdout().includes('up\n'));
          await plain.signal('SIGTERM');
          assert.equal((await plain.exit()).status, 0);
          assert.equal(plain.stdout(), 'up\nTERM\n');
        }
      });
    }
});

test('the page about kernels has a row for each thing that sexton needs', () => {
  const page = readFileSync(join(ROOT, 'docs/internals/kernels.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm)].map((match) => match.slice(1));
  assert.deepEqual(
    rows,
    NEEDS.map((it) => [NAMES[it.what] ?? it.what, it.for, it.without]),
  );
});

const NAMES: Readonly<Record<string, string>> = {
  ppoll: 'poll',
  'fcntl:1=1026': 'fcntl(F_NOTIFY)',
  'socket:2=4': 'socket(.., NETLINK_SOCK_DIAG)',
};

function opposite(outcome: Need['outcome']): Need['outcome'] {
  return outcome === 'serves' ? 'refuses' : 'serves';
}
