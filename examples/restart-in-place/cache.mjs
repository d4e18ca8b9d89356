/**
 * The sidecar: a cache on CACHE_PORT. It takes 3 s to fill when the volume CACHE_DIR is empty, and none when it is warm.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const FILLING_MS = 3_000;
const { CACHE_PORT, CACHE_DIR } = process.env;
const file = join(CACHE_DIR, 'filled');

const server = createServer((_, response) => response.setHeader('Connection', 'close').end('cached\n'));
const filling = setTimeout(
  () => {
    writeFileSync(file, '');
    server.listen(Number(CACHE_PORT), '127.0.0.1');
  },
  existsSync(file) ? 0 : FILLING_MS,
);
process.on('SIGTERM', () => {
  clearTimeout(filling);
  server.close(() => process.exit(0));
});
