/**
 * A client of a Service, as a proxy of the node would be. A line on stdin is a JSON array of the addresses
 * (`HOST:PORT`) that are ready now. It sends requests to them in turn, RATE times a second, each by a new connection.
 * At the end of stdin it prints `{"asked": N, "failed": [...], "unserved": N}`. The last is how often no address was
 * ready. It tries nothing twice.
 */
import { get } from 'node:http';
import { createInterface } from 'node:readline';

const RATE = 40;
let addresses = [];
let asked = 0;
let underWay = 0;
let unserved = 0;
let isBegun = false;
let isOver = false;
const failed = [];

const timer = setInterval(() => {
  const address = addresses[asked % addresses.length];
  if (address !== undefined) ask(address);
  else if (isBegun) unserved += 1;
}, 1_000 / RATE);

function ask(address) {
  const at = new Date().toISOString();
  asked += 1;
  underWay += 1;
  const done = (trouble) => {
    underWay -= 1;
    if (trouble !== undefined) failed.push({ at, address, trouble });
    end();
  };
  get(`http://${address}/`, { agent: false }, (response) => {
    response.on('error', () => {});
    response.once('close', () => done(response.complete && response.statusCode === 200 ? undefined : 'cut off'));
    response.resume();
  }).once('error', (error) => done(error.message));
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    addresses = JSON.parse(line);
    isBegun ||= addresses.length > 0;
  })
  .once('close', () => {
    clearInterval(timer);
    isOver = true;
    end();
  });

function end() {
  if (isOver && underWay === 0) process.stdout.write(`${JSON.stringify({ asked, failed, unserved })}\n`);
}
