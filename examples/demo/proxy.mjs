/**
 * A sidecar of the demo: the job's way to the network. Alone it would run for ever, and its pod would never complete.
 * On TERM it lets what is in flight end, which takes it half a second, and says so in the log.
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { DEMO_SOCKET: socketPath, DEMO_LOG: log } = process.env;

const server = createServer((request, response) => response.end(`200 ${request.url}`));
server.listen(socketPath, () => appendFileSync(log, 'proxy: listening\n'));

process.on('SIGTERM', () => {
  server.close();
  setTimeout(() => appendFileSync(log, 'proxy: the last connection is closed\n'), 500);
});
