import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { examples } from './rules.ts';
import { deployment } from './workloads.ts';

const STOP = 'check.sexton.dev/stop-seconds';
/** Another workload of the same file, with a finding of its own. */
const OTHER = `---\n${examples('SX101').bad}`;

function manifest(annotations: string): string {
  const text = deployment('- {name: web, image: "example.com/web:1"}');
  return `${text.replace('metadata: {name: web}', `metadata: {name: web, annotations: {${annotations}}}`)}${OTHER}`;
}

/** Shows how a declaration was understood, by whether the program is killed after 30 s. */
async function outcomeOf(annotations: string) {
  const { findings, workloads, unreadable } = await check([{ path: 'a.yaml', text: manifest(annotations) }]);
  assert.deepEqual(unreadable, []);
  assert.ok(
    findings.some(({ rule }) => rule === 'SX101'),
    'the rest of the file is checked',
  );
  const said = findings.filter(({ message }) => message.includes('check.sexton.dev'));
  return {
    killed: workloads[0]?.view.timeline.containers[0]?.killed,
    said: said.map(({ rule, severity, message }) => `${severity} ${rule} ${message}`),
  };
}

describe('what is declared by annotations', () => {
  for (const [killed, values] of Object.entries({
    never: ['"0"', '"5"', '5', '" 5.5 "', '"5s"', '"500ms"'],
    always: ['"60"', '"1m30s"', '"2147483"', '"596h"'],
  }))
    for (const value of values)
      it(`an annotation understands ${value}`, async () => {
        assert.deepEqual(await outcomeOf(`${STOP}: ${value}`), { killed, said: [] });
        assert.deepEqual(await outcomeOf(`${STOP}.web: ${value}`), { killed, said: [] });
      });

  const such = 'must be a duration; write one such as 500ms, 30s or 1m30s';
  for (const [value, shown, why] of [
    ['soon', 'soon', such],
    ['""', '""', such],
    ['', '""', such],
    ['"-5"', '-5', 'a duration cannot be negative; write one such as 30s'],
    ['"30 sec"', '"30 sec"', 'must be a duration; write 30s'],
    ['"1.5m"', '1.5m', 'must be a duration; write 1m30s'],
    ['"1e3"', '1e3', such],
    ['"0x1e"', '0x1e', such],
    ['[5]', '[5]', such],
    ['"2147484"', '2147484', 'longer than a timer can be; write at most 596h'],
    ['"597h"', '597h', 'longer than a timer can be; write at most 596h'],
    [`"${'9'.repeat(400)}"`, `${'9'.repeat(80)}...`, 'longer than a timer can be; write at most 596h'],
  ] as const)
    it(`SX902 reports ${value.slice(0, 20) || 'nothing'}, and the check goes on without it`, async () => {
      const said = [`warning SX902 ${STOP} ${shown}: ${why}`];
      assert.deepEqual(await outcomeOf(`${STOP}: ${value}`), { killed: 'maybe', said });
    });
});
