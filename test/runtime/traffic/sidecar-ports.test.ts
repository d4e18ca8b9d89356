/**
 * Ports at which a drain takes nobody for a client, because a sidecar that is known by its name answers probes there.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuits } from '../../../src/config/notation/quit.ts';
import { sidecarPorts } from '../../../src/core/lifecycle/drain.ts';
import { ADAPTIVE_DRAIN, mainConfig } from '../../core/helpers.ts';

test('C1: the port of a sidecar that is known by name has no clients, unless ports= names it; that of a URL may have', () => {
  const quit = parseQuits('istio,http://127.0.0.1:8080/quit');
  const config = mainConfig({ quit: quit.ok ? quit.value : [] });
  assert.deepEqual(sidecarPorts({ ...config, drain: ADAPTIVE_DRAIN }), [15_020]);
  assert.deepEqual(sidecarPorts({ ...config, drain: { ...ADAPTIVE_DRAIN, ports: [15_020] } }), []);
});
