/**
 * What a Job sees of Istio's proxy, which is injected and cannot be wrapped: the endpoints of pilot-agent, and traffic that gets nowhere
 * without it. It has no end of its own. `AGENT_PORT`, `READY_PORT` and `PROXY_PORT` are 15020, 15021 and 15001 in a mesh.
 */
import { createServer } from 'node:http';

const { AGENT_PORT, READY_PORT, PROXY_PORT } = process.env;

// Only POST is an order to leave; whoever asks by GET gets 405 and the proxy stays.
listen(AGENT_PORT, (request, response) => {
  if (request.url !== '/quitquitquit') return answer(response, 404);
  if (request.method !== 'POST') return answer(response, 405);
  answer(response, 200, 'ok');
  response.once('finish', () => process.exit(0));
});
listen(READY_PORT, (request, response) => answer(response, request.url === '/healthz/ready' ? 200 : 404));
listen(PROXY_PORT, (_request, response) => answer(response, 200, 'passed on'));

function listen(port, onRequest) {
  createServer(onRequest).listen(Number(port), '127.0.0.1');
}

function answer(response, status, text = '') {
  response.writeHead(status, { connection: 'close' }).end(text);
}
