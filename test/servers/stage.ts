/**
 * What a real server needs for a test: a directory, an address of its own, and work that lasts as long as the test
 * wants. A reverse proxy gets the work from a backend in this process, an application server from an application that
 * waits for a file. Either sends the first half of `/slow` at once and the second when it is released. Everything else
 * is answered at once.
 */
import { randomInt } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type Scratch, tempGraveyard } from '../helpers/scratch.ts';

export const FIRST_HALF = 'first half\n';
export const SECOND_HALF = 'second half\n';
/** Outside of the range from which the kernel takes ports for clients. */
export const PORT = 18_080;
const BACKEND_PORT = 18_081;

export interface Stage {
  readonly scratch: Scratch;
  readonly dir: string;
  /** An address of 127.0.0.0/8 for this test alone, so that no two tests share a port. */
  readonly host: string;
  readonly backendPort: number;
  /** The file that applications wait for. */
  readonly releaseFile: string;
  write(name: string, text: string): string;
  /** The second halves may go out. */
  release(): void;
  /** `ok`, or the work that waits; for application servers a program of the language. */
  readonly backend: Server;
}

export async function prepareStage(t: TestContext): Promise<Stage> {
  const scratch = await tempGraveyard(t);
  const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const waiting: ServerResponse[] = [];
  const releaseFile = scratch.path('release');
  const backend = createServer((request, response) => {
    if (request.url !== '/slow') return void response.end('ok\n');
    response.setHeader('content-length', FIRST_HALF.length + SECOND_HALF.length);
    response.write(FIRST_HALF);
    if (existsSync(releaseFile)) response.end(SECOND_HALF);
    else waiting.push(response);
  });
  await new Promise<void>((resolve, reject) => {
    backend.once('error', reject);
    backend.listen(BACKEND_PORT, host, resolve);
  });
  // Where another hook fails the one below does not run, and nothing else would end the process of this file.
  backend.unref();
  t.after(() => {
    backend.closeAllConnections();
    backend.close();
  });
  return {
    scratch,
    dir: scratch.dir,
    host,
    backendPort: BACKEND_PORT,
    releaseFile,
    backend,
    write: (name, text) => {
      writeFileSync(scratch.path(name), text);
      return scratch.path(name);
    },
    release: () => {
      writeFileSync(releaseFile, '');
      for (const response of waiting.splice(0)) response.end(SECOND_HALF);
    },
  };
}
