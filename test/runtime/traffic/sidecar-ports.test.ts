/** Ports where a sidecar that is known by name answers probes: a drain counts no connection there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuits } from '../../../src/config/notation/sidecars.ts';
import { sidecarPorts } from '../../../src/core/lifecycle/drain.ts';
import { ADAPTIVE_DRAIN, mainConfig } from '../../core/helpers.ts';

test('C1: the port of a known sidecar has no clients, unless ports= names it', () => {
  const quit = parseQuits('istio,http://127.0.0.1:8080/quit');
  const config = mainConfig({ quit: quit.ok ? quit.value : [] });
  assert.deepEqual(sidecarPorts({ ...config, drain: ADAPTIVE_DRAIN }), [15_020]);
  assert.deepEqual(sidecarPorts({ ...config, drain: { ...ADAPTIVE_DRAIN, ports: [15_020] } }), []);
});
