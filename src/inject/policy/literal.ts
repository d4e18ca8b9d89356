/** Data as CEL writes it. Its strings are those of JSON. */
import { type Data, isList } from '../../check/edits.ts';

/**
 * `dyn` hides types, because those of all items of a list, and of all values of a map, must be one. Kubernetes' own
 * `Object.spec{..}` needs no such thing, but a list of nothing else lets the API server panic (1.36.2).
 */
export function literal(data: Data): string {
  if (typeof data !== 'object') return JSON.stringify(data);
  if (isList(data)) return `[${data.map((one) => hidden(literal(one), typeof one === 'object')).join(', ')}]`;
  const isMixed = new Set(Object.values(data).map((value) => (isList(value) ? 'list' : typeof value))).size > 1;
  const fields = Object.entries(data).map(([key, value]) => `"${key}": ${hidden(literal(value), isMixed)}`);
  return `{${fields.join(', ')}}`;
}

function hidden(text: string, isHidden: boolean): string {
  return isHidden ? `dyn(${text})` : text;
}
