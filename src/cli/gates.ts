/**
 * Start gates: `proxy=started,migrate=completed?`. A question mark: absent is fine.
 */
import type { GateCondition, StartGate } from '../core/config.ts';
import { parseName } from './name.ts';
import { nearest } from './nearest.ts';
import { bad, eachOf, good, type Parse, repeated, show } from './parse.ts';

export function parseGates(text: string): Parse<readonly StartGate[]> {
  const gates = eachOf(text, parseGate);
  if (!gates.ok) return gates;
  const twice = repeated(gates.value.map((gate) => gate.name));
  return twice === undefined ? gates : bad(`${twice} is named twice; name it once`);
}

export function formatGates(gates: readonly StartGate[]): string {
  return gates.map((gate) => `${gate.name}=${gate.condition}${gate.optional ? '?' : ''}`).join(',');
}

function parseGate(text: string): Parse<StartGate> {
  const [nameText = '', conditionText, ...more] = text.split('=');
  if (conditionText === undefined && text.includes(':')) {
    return bad(`${show(text)} is not a start gate; write ${show(text.replace(':', '='))}`);
  }
  const name = parseName(nameText.replace(/\?$/, ''));
  if (!name.ok) return bad(`${show(nameText)} is not a name: ${name.why}`);
  if (conditionText === undefined || more.length > 0) {
    return bad(`${show(text)} is not a start gate; write ${choices(name.value)}`);
  }
  const optional = conditionText.endsWith('?');
  const word = optional ? conditionText.slice(0, -1) : conditionText;
  const condition = CONDITIONS.find((one) => one === word);
  if (condition !== undefined) return good({ name: name.value, condition, optional });
  const near = ALIASES[word.toLowerCase()] ?? nearest(word, CONDITIONS);
  const remedy = near === undefined ? `write ${choices(name.value)}` : `did you mean ${near}?`;
  return bad(`${show(word)} is not a condition; ${remedy}`);
}

const CONDITIONS: readonly GateCondition[] = ['started', 'healthy', 'completed'];

/** What other tools call them. */
const ALIASES: Readonly<Partial<Record<string, GateCondition>>> = {
  ready: 'healthy',
  service_started: 'started',
  service_healthy: 'healthy',
  service_completed_successfully: 'completed',
};

function choices(name: string): string {
  return `${name}=started, ${name}=healthy or ${name}=completed`;
}
