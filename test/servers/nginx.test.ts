/**
 * A real server behind sexton: nginx takes QUIT for a graceful stop and cuts its requests on TERM, which is what every
 * platform sends.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Container, startContainer } from '../helpers/container.ts';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';
import { waitFor, within } from '../helpers/wait.ts';

const NGINX = '/usr/sbin/nginx';
const skip = existsSync(NGINX) ? false : '/usr/sbin/nginx is not installed (apt-get install nginx-light)';

/** At 1,000 bytes a second the body takes about three seconds; nginx sends it in several pieces. */
const BODY_BYTES = 3_000;

test('a request of 3 s in flight is completed when TERM is translated to QUIT', { skip }, async (t) => {
  const scratch = await tempGraveyard(t);
  const { received, status } = await stopInFlight(scratch, ['--signals', 'TERM:QUIT']);
  assert.equal(received, BODY_BYTES);
  assert.equal(status, 0);
});

test('the same request is cut when nginx gets the TERM itself (the control)', { skip }, async (t) => {
  const scratch = await tempGraveyard(t);
  const { received } = await stopInFlight(scratch, []);
  assert.ok(received < BODY_BYTES, `got all of ${received} bytes`);
});

/** Asks for the body, sends TERM to PID 1 once the first piece of it has come, and counts what comes after all. */
async function stopInFlight(scratch: Scratch, flags: readonly string[]): Promise<{ received: number; status: number }> {
  const socketPath = join(scratch.dir, 'http.sock');
  const container = startNginx(scratch, socketPath, flags);
  await waitFor('nginx listens', () => existsSync(socketPath));
  let received = 0;
  let onFirst = (): void => {};
  const first = new Promise<void>((resolve) => {
    onFirst = resolve;
  });
  const over = new Promise<void>((resolve) => {
    const outgoing = request({ socketPath, path: '/body' }, (response) => {
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
        onFirst();
      });
      response.on('close', resolve);
    });
    // Cut in the middle: what counts is how much has come.
    outgoing.on('error', () => resolve());
    outgoing.end();
  });
  await within('the first piece of the body comes', first);
  assert.ok(received < BODY_BYTES, 'the whole body came at once: nothing is in flight');
  await container.signal('SIGTERM');
  await within('the response ends', over);
  const { status } = await container.exit();
  return { received, status };
}

function startNginx(scratch: Scratch, socketPath: string, flags: readonly string[]): Container {
  const { dir } = scratch;
  writeFileSync(join(dir, 'body'), 'x'.repeat(BODY_BYTES));
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; user root; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
    events {}
    http {
      access_log off; sendfile off; output_buffers 1 512; postpone_output 0;
      client_body_temp_path ${dir}/t1; proxy_temp_path ${dir}/t2; fastcgi_temp_path ${dir}/t3; uwsgi_temp_path ${dir}/t4; scgi_temp_path ${dir}/t5;
      server { listen unix:${socketPath}; root ${dir}; limit_rate 1000; }
    }`,
  );
  return startContainer(scratch, { name: 'nginx', flags, command: [NGINX, '-c', join(dir, 'nginx.conf')] });
}
