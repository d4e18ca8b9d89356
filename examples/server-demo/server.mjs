/**
 * An HTTP server as many are: it listens on PORT only when it has warmed up for WARM_UP_MS, and each answer takes it
 * half a second. On TERM it is careful: it takes no new connection, finishes what it has, and ends with 0.
 */
import { createServer } from 'node:http';

const ANSWER_MS = 500;

const server = createServer((request, response) => {
  response.setHeader('Connection', 'close');
  if (request.url === '/ready') response.end();
  else setTimeout(() => response.end(`served by ${process.pid}\n`), ANSWER_MS);
});
const warmUp = setTimeout(() => server.listen(Number(process.env.PORT)), Number(process.env.WARM_UP_MS));
process.on('SIGTERM', () => {
  clearTimeout(warmUp);
  server.close(() => process.exit(0));
});
