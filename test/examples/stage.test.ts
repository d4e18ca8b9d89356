/** An interrupted example also removes everything, including what runs under its sextons. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINE } from '../helpers/engine.ts';
import { NODE, ROOT } from '../helpers/paths.ts';
import { processesNaming } from '../helpers/process.ts';
import { tempGraveyard } from '../helpers/scratch.ts';
import { waitFor } from '../helpers/wait.ts';

const EXAMPLE = join(ROOT, 'examples', 'server-demo', 'run.ts');
const skip = ENGINE === 'podman' ? 'not in podman: the example is for machines without an engine' : false;

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`an example that gets ${signal} leaves no process and no file behind`, { skip }, async (t) => {
    const temporary = (await tempGraveyard(t)).path('tmp');
    mkdirSync(temporary);
    const example = spawn(NODE, [EXAMPLE], { env: { ...process.env, TMPDIR: temporary }, stdio: 'ignore' });
    const under = () => processesNaming(join(temporary, 'sexton-server-'));
    await waitFor('both replicas run under sexton', () => under().filter(isReplica).length >= 2);
    example.kill(signal);
    assert.deepEqual(await once(example, 'exit'), [128 + constants.signals[signal], null]);
    await waitFor('what got KILL is gone', () => processesNaming(temporary).length === 0);
    assert.deepEqual(readdirSync(temporary), []);
  });

/** The init of one, whose arguments name its graveyard. */
function isReplica({ commandLine }: { readonly commandLine: string }): boolean {
  return commandLine.includes('/dist/sexton/sexton run');
}
