/**
 * The sidecar: answers on 127.0.0.1:PROXY_PORT. `GET /crash` ends it at once, like a bug would; TERM ends it properly.
 */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  if (request.url === '/crash') process.exit(1);
  response.end(`served by ${process.pid}\n`);
});
server.listen(Number(process.env.PROXY_PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
