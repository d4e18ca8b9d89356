import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fallbackOf } from '../../src/runtime/effects.ts';
import { mainConfig } from '../core/helpers.ts';

test('without a supervisor the host sends what the first rung would be, or the signal that arrived', () => {
  const signalOf = (change: Parameters<typeof mainConfig>[0]): unknown => {
    const command = fallbackOf(mainConfig(change));
    return command.type === 'fallback' ? command.signal : command.type;
  };
  assert.equal(signalOf({}), undefined);
  assert.equal(signalOf({ signals: { 15: 3 } }), 3);
  assert.equal(
    signalOf({
      ladder: [
        { signal: 15, forMs: 1_000 },
        { signal: 2, forMs: undefined },
      ],
    }),
    15,
  );
});
