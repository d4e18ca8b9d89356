/**
 * The main: an HTTP server on PORT that asks its sidecar on CACHE_PORT for each answer. It takes 200 ms for one. On TERM
 * it is careful: it takes no new connection, finishes what it has, and ends with 0. `/ready` tells whether the sidecar
 * answers.
 */
import { createServer, get } from 'node:http';

const ANSWER_MS = 200;
const { PORT, CACHE_PORT } = process.env;

const server = createServer((request, response) => {
  response.setHeader('Connection', 'close');
  get({ host: '127.0.0.1', port: CACHE_PORT, agent: false }, (cached) => {
    cached.resume();
    setTimeout(() => response.end(`served by ${process.pid}\n`), request.url === '/ready' ? 0 : ANSWER_MS);
  }).once('error', () => response.writeHead(503).end('the cache does not answer\n'));
});
server.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => server.close(() => process.exit(0)));
