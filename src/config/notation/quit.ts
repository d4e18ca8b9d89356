/**
 * The sidecars that `--quit` and `sexton quit` ask to leave: known ones by name, others by URL.
 */
import type { HttpAction, QuitAction } from '../../core/config.ts';
import { formatAction, parseActionText } from './action.ts';
import { bad, good, type Parse, show } from './parse.ts';
import { callOf, parseSidecar } from './sidecars.ts';

/** `istio`, `envoy:15000`, `http://127.0.0.1:8080/quit`; several with commas. */
export function parseQuits(text: string): Parse<readonly QuitAction[]> {
  const quits: QuitAction[] = [];
  for (const word of text.split(',')) {
    const quit = parseQuit(word.trim());
    if (!quit.ok) return quit;
    if (quits.some(({ name }) => name === quit.value.name))
      return bad(`${show(quit.value.name)} is given twice; give it once`);
    quits.push(quit.value);
  }
  return good(quits);
}

export function formatQuits(quits: readonly QuitAction[]): string {
  return quits.map(({ name }) => name).join(',');
}

export function parseQuit(word: string): Parse<QuitAction> {
  if (word.includes('://')) return parseQuitUrl(word);
  const parsed = parseSidecar(word);
  if (!parsed.ok) return parsed;
  const { sidecar, port = sidecar.quit.port } = parsed.value;
  const { paths, hint = 'another program may listen on this port', absent } = sidecar.quit;
  const [first, ...rest] = paths;
  const call = (path: string): HttpAction => callOf('POST', port, path, sidecar);
  const calls = [call(first), ...rest.map(call)] as const;
  return good({ kind: 'quit', name: word, calls, hint, ...(absent !== undefined && { absent }) });
}

function parseQuitUrl(word: string): Parse<QuitAction> {
  const parsed = parseActionText(`POST ${word}`, {
    what: 'a quit call',
    schemes: ['http', 'https'],
    methods: ['POST'],
    example: 'http://127.0.0.1:8080/quit',
    options: { known: [], refused: {} },
  });
  if (!parsed.ok) return parsed;
  const { action } = parsed.value;
  if (action.kind !== 'http') return bad(`${show(word)} is not an http URL; write http://127.0.0.1:PORT/PATH`);
  return good({
    kind: 'quit',
    name: formatAction(action).replace(/^POST /, ''),
    calls: [action],
    hint: 'check the path',
  });
}
