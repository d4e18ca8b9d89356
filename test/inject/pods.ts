/** Draws manifests of several documents in the styles in which people and programs write YAML. */
import fc from 'fast-check';
import { Document, stringify } from 'yaml';

const word = fc.stringMatching(/^[a-z]([a-z0-9-]{0,6}[a-z0-9])?$/);
const text = fc.oneof(
  word,
  fc.constantFrom('--port=80', "it's", 'say "hi"', '$(HOME) $$', 'a: b # c', 'line\nline\n', 'é'),
);
const IMAGES = ['nginx', 'app', 'busybox', 'unknown', 'istio/proxyv2:1'] as const;

const container = (name: string) =>
  fc
    .record(
      {
        image: fc.constantFrom(...IMAGES),
        command: fc.array(text, { maxLength: 3 }),
        args: fc.array(text, { maxLength: 2 }),
        env: fc.constantFrom(null, [], [{ name: 'A', value: '1' }]),
        volumeMounts: fc.constantFrom([], [{ name: 'data', mountPath: '/data' }]),
        lifecycle: fc.constant({ preStop: { sleep: { seconds: 3 } } }),
      },
      { requiredKeys: ['image'] },
    )
    .map((rest) => ({ name, ...rest }));

const pod = fc
  .record({
    names: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
    metadata: fc.constantFrom(
      undefined,
      {},
      { labels: { app: 'x' } },
      { annotations: {} },
      { annotations: null },
      { annotations: { a: 'b' } },
    ),
    restartPolicy: fc.constantFrom(undefined, 'Never', 'Always'),
    volumes: fc.constantFrom(undefined, null, [], [{ name: 'data', emptyDir: {} }]),
    isTemplate: fc.boolean(),
    isReversed: fc.boolean(),
  })
  .chain(({ names, ...rest }) => fc.tuple(fc.tuple(...names.map(container)), fc.constant(rest)))
  .map(([containers, { metadata, restartPolicy, volumes, isTemplate, isReversed }]) => {
    const all = { restartPolicy, containers, volumes };
    const spec = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const ordered = isReversed ? Object.fromEntries(Object.entries(spec).toReversed()) : spec;
    const template = { ...(metadata && { metadata }), spec: ordered };
    return isTemplate
      ? { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: { template } }
      : { apiVersion: 'v1', kind: 'Pod', ...template };
  });

const style = fc.record({
  format: fc.constantFrom('block', 'flow', 'json', 'pretty'),
  indentSeq: fc.boolean(),
  indent: fc.constantFrom(2, 4),
  quotes: fc.constantFrom('PLAIN' as const, 'QUOTE_SINGLE' as const, 'QUOTE_DOUBLE' as const),
  comments: fc.boolean(),
  /** The same lists are written once, with an anchor. */
  anchors: fc.boolean(),
  end: fc.constantFrom('\n', '\n\n', ''),
});

const document = fc.tuple(pod, style).map(([value, { format, indentSeq, indent, quotes, comments, anchors, end }]) => {
  if (format === 'json') return JSON.stringify(value) + end;
  if (format === 'pretty') return JSON.stringify(value, null, indent) + end;
  const options = { indentSeq, indent, lineWidth: 0, defaultStringType: quotes };
  const shared = anchors ? value : structuredClone(value);
  const made = new Document(shared, { aliasDuplicateObjects: anchors });
  const nulled = format === 'flow' ? stringify(value, { ...options, collectionStyle: 'flow' }) : made.toString(options);
  // As a template leaves it that has nothing to say.
  const written = nulled.replaceAll(/: null$/gm, ':');
  const noted = comments
    ? written.replaceAll(/^( *)(containers|volumes|- name|image):/gm, '$1# about it\n$&')
    : written;
  return (comments ? noted.replace(/^kind: .*$/m, '$&   # kind') : noted).replace(/\n$/, end);
});

export const manifests = fc
  .tuple(fc.array(document, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([documents, isCrlf]) => {
    const joined = documents.map((one) => (one.endsWith('\n') ? one : `${one}\n`)).join('---\n');
    return isCrlf ? joined.replaceAll('\n', '\r\n') : joined;
  });
