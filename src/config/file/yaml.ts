/**
 * YAML, in a file of its own since its parser is loaded only when a configuration file needs it. Every scalar is its
 * text: a session `0123` must be the one that SEXTON_SESSION=0123 names, and not 123. Only null is null: `name: null`
 * names nothing.
 */
import { parseAllDocuments } from 'yaml';
import { bad, good, type Parse, TOO_DEEP } from '../notation/parse.ts';

export function parseYaml(text: string): Parse<unknown> {
  try {
    const documents = parseAllDocuments(text, { prettyErrors: true, schema: 'failsafe', customTags: ['null'] });
    const [document, ...more] = documents;
    if (document === undefined) return bad('is empty; write one key per line, such as role: sidecar');
    if (more.length > 0) return bad('holds several documents; keep one of them');
    const [error] = document.errors;
    if (error?.code === 'RESOURCE_EXHAUSTION') return bad(TOO_DEEP);
    // Only the first line: the rest draws the place with a caret.
    if (error) return bad(`is not YAML: ${error.message.split('\n')[0]?.replace(/:$/, '')}`);
    return good(document.toJS() as unknown);
  } catch (thrown) {
    // The parser has no limit for some kinds of nesting, and expands aliases, whose number is limited, only at the end.
    return bad(thrown instanceof RangeError ? TOO_DEEP : `is not YAML: ${(thrown as Error).message}`);
  }
}
