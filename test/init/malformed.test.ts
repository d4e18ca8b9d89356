import assert from 'node:assert/strict';
import { encodeFrame } from '../../src/runtime/host/frames.ts';
import { hasEnded } from '../helpers/process.ts';
import { waitFor } from '../helpers/wait.ts';
import { AGENT, onBench } from './scripted.ts';

const MALFORMED: Readonly<Record<string, Buffer>> = {
  'a frame of no bytes': Buffer.from([0, 0, 0, 0]),
  'a frame of more than 1,048,576 bytes': Buffer.from([1, 0, 16, 0]),
  'a frame of 4 GiB': Buffer.from([255, 255, 255, 255]),
  'no NUL at the end': Buffer.from([6, 0, 0, 0, ...Buffer.from('commit')]),
  'an unknown frame': encodeFrame(['comit']),
  'an unknown operation': encodeFrame(['commit', 'dance']),
  'an operation cut short': encodeFrame(['commit', 'kill', '1']),
  'a number that is none': encodeFrame(['commit', 'exit', '1x']),
  'an empty number': encodeFrame(['commit', 'exit', '']),
  'a sign': encodeFrame(['commit', 'exit', '-1']),
  'a leading zero': encodeFrame(['commit', 'exit', '07']),
  'a number too large for 64 bits': encodeFrame(['commit', 'ack', '99999999999999999999']),
  'an exit code beyond 255': encodeFrame(['commit', 'exit', '256']),
  'signal 0': encodeFrame(['commit', 'kill', '1', '0']),
  'signal 65': encodeFrame(['commit', 'kill', '1', '65']),
  'an acknowledgement of what was never sent': encodeFrame(['commit', 'ack', '1000']),
  'an index beyond the command line': encodeFrame(['commit', 'spawn', '2', '0', '99', '0']),
  'another reach of signals than there are': encodeFrame(['commit', 'spawn', '2', '3', '0', '1', 'true']),
  'an index and words': encodeFrame(['commit', 'spawn', '2', '0', '1', '1', 'true']),
  'neither index nor words': encodeFrame(['commit', 'spawn', '2', '0', '0', '0']),
  'fewer words than announced': encodeFrame(['commit', 'spawn', '2', '0', '0', '3', 'true']),
  'a limit of output beyond 4,096 bytes': encodeFrame(['commit', 'exec', '1', '4097', '1', 'true']),
  'a helper without a program': encodeFrame(['commit', 'exec', '1', '0', '0']),
  'a helper with fewer words than announced': encodeFrame(['commit', 'exec', '1', '0', '2', 'true']),
  'helper 0': encodeFrame(['commit', 'end-helper', '0']),
  'a sweep without a signal': encodeFrame(['commit', 'sweep', '0']),
  'first-only without a child': encodeFrame(['commit', 'first-only']),
  'a memo beyond 65,536 bytes': encodeFrame(['commit', 'memo', 'm'.repeat(65_537)]),
  'a socket path beyond 107 bytes': encodeFrame(['commit', 'listen', `/${'p'.repeat(107)}`]),
  'an empty socket path': encodeFrame(['commit', 'listen', '']),
  'more pairs than signals': encodeFrame([
    ...['commit', 'orders', '1', '0', '1', 'each', '65'],
    ...Array<string>(130).fill('1'),
  ]),
  'more orders than there is room for': encodeFrame([
    ...['commit', 'orders', '1', '0', '17'],
    ...Array<readonly string[]>(17).fill(['grace', '1']).flat(),
  ]),
  'an order that has an operation of its own': encodeFrame(['commit', 'orders', '1', '0', '1', 'mains', '1', '15']),
  'an order that does not exist': encodeFrame(['commit', 'orders', '1', '0', '1', 'soon', '1']),
  'a negative grace period': encodeFrame(['commit', 'orders', '1', '0', '1', 'grace', '-1']),
  'a time to stop without a signal': encodeFrame(['commit', 'orders', '1', '0', '1', 'lost', '1']),
  'one good operation and one bad': encodeFrame(['commit', 'memo', 'applied', 'kill', '1', '9', 'exit', '300']),
};

onBench('init applies no part of a wrong frame, and replaces the supervisor that sent it', async (bench) => {
  for (const [what, bytes] of Object.entries(MALFORMED)) {
    // The next start of a supervisor that dies young waits ever longer, so each fault gets an init of its own.
    const own = bench.start(['--', ...AGENT]);
    const supervisor = await own.supervisor();
    const [, pid] = await supervisor.expect('spawned');
    supervisor.raw(bytes);
    await supervisor.closed();
    await waitFor(`${what}: it is ended`, () => hasEnded(supervisor.about.pid));
    const next = await own.supervisor();
    assert.equal(next.hello[4], '', what);
    assert.equal((await next.expect('spawned'))[1], pid, what);
    own.write('exit 0\n');
    assert.equal((await next.expect('exited'))[2], '0', what);
    await next.expect('roots-gone');
    next.commit('exit', 0);
    assert.equal((await own.ended).code, 0, what);
    assert.match(own.stderr(), /not in the protocol/);
  }
});
