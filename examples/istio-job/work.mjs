/**
 * The work: needs the network, which is there when the proxy is ready. Ends with the code in WORK_EXIT, without network
 * with 9.
 */
import { get } from 'node:http';

const { PROXY_PORT, WORK_EXIT = '0' } = process.env;

get({ host: '127.0.0.1', port: PROXY_PORT, agent: false }, (response) => {
  response.resume().once('end', () => process.exit(Number(WORK_EXIT)));
}).once('error', (error) => {
  console.error(`no network: ${error.message}`);
  process.exit(9);
});
