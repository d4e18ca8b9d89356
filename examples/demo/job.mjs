/**
 * The main of the demo: a job. It fetches five pages through its proxy, writes what it got to the log, and ends.
 * That the proxy has started does not mean that it listens already; until then this asks again, as programs do.
 */
import { appendFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const { DEMO_SOCKET: socketPath, DEMO_LOG: log } = process.env;

for (let page = 1; page <= 5; page += 1) {
  let text;
  while (text === undefined) text = await fetchThroughProxy(`/page/${page}`).catch(() => sleep(20));
  appendFileSync(log, `job: ${text}\n`);
  await sleep(300);
}
appendFileSync(log, 'job: done\n');

function fetchThroughProxy(path) {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve(text));
    });
    call.on('error', reject).end();
  });
}
