import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { signalName, signalNumber } from '../../src/core/signals.ts';

describe('the names of signals', () => {
  it('the names of signals are those of the system', {
    skip: process.platform === 'linux' ? false : 'needs Linux',
  }, () => {
    for (const [name, number] of Object.entries(constants.signals)) {
      if (number === undefined) continue;
      assert.equal(signalNumber(name), number, name);
      assert.equal(signalNumber(name.slice(3)), number, name);
      assert.equal(signalNumber(name.toLowerCase()), number, name);
    }
  });

  it('real-time signals count from 34 up and from 64 down', () => {
    assert.deepEqual(['RTMIN', 'SIGRTMIN+3', 'RTMAX', 'RTMAX-1', 'rtmin+30'].map(signalNumber), [34, 37, 64, 63, 64]);
    for (const wrong of ['RTMIN-1', 'RTMAX+1', 'RTMIN+31', 'RTMAX-31', 'RTMIN+'])
      assert.equal(signalNumber(wrong), undefined, wrong);
  });

  it('numbers are 1 to 64, and nothing else is a signal', () => {
    assert.deepEqual(['1', '15', '64'].map(signalNumber), [1, 15, 64]);
    for (const wrong of ['0', '65', '015', '-1', '', 'SIG', 'TERMINATE', '1.5', ' 15', 'constructor'])
      assert.equal(signalNumber(wrong), undefined, wrong);
  });

  it('every number has a name that is read back as that number', () => {
    for (let number = 1; number <= 64; number += 1)
      if (number !== 32 && number !== 33) assert.equal(signalNumber(signalName(number)), number);
    assert.deepEqual([signalName(15), signalName(37), signalName(64)], ['SIGTERM', 'SIGRTMIN+3', 'SIGRTMAX']);
  });
});
