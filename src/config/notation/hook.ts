/**
 * Hooks: `exec:CMD`, `http://..`, `POST http://..`, `tcp://..`, `sleep:5s`.
 */
import type { HookAction } from '../../core/config.ts';
import { type ActionRules, formatAction, parseActionText } from './action.ts';
import { bad, good, type Parse } from './parse.ts';
import { PROBE_OPTIONS } from './probe.ts';

export function parseHook(text: string): Parse<HookAction> {
  const parsed = parseActionText(text, RULES);
  if (!parsed.ok) return parsed;
  const { action } = parsed.value;
  return action.kind === 'grpc' ? bad('a hook cannot be grpc; write one such as exec:CMD') : good(action);
}

export function formatHook(hook: HookAction): string {
  return formatAction(hook);
}

const NO_OPTION = 'a hook has no such option, its time is the grace period; leave it out';

const RULES: ActionRules = {
  what: 'a hook',
  schemes: ['exec', 'http', 'https', 'tcp', 'sleep'],
  methods: ['GET', 'POST'],
  example: 'exec:CMD, http://:8080/stop, "POST http://:8080/stop" or sleep:5s',
  options: { known: [], refused: Object.fromEntries(PROBE_OPTIONS.map((name) => [name, NO_OPTION])) },
};
