/**
 * `node test/init/fuzz/texts.ts NAME MS` gives one parser in TypeScript damaged texts for MS milliseconds. It prints
 * `{"executions", "lines", "covered"}`: the number of texts, and the line coverage of the parser. A text that
 * makes the parser throw, break its rules or take long is shrunk by fast-check; the exit code is then 1.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { ROOT } from '../../helpers/paths.ts';
import { coveredLines } from './lines.ts';

interface Parser {
  /** The file that is measured, below src. */
  readonly file: string;
  readonly seeds: readonly string[];
  /** Reads a text, and throws where it must not be read like this. Loaded late, so that all of it is measured. */
  load(): Promise<(text: string) => void>;
}

const REQUEST = JSON.stringify({
  ...{ Version: 1, Boot: 'b-1', Incarnation: 'c-1', GraceMs: 5000, Among: ['web', 'log'], ByRule: 3, By: 'x' },
  ...{ At: '2026-01-02T03:04:05.678901234Z', RequestedMonotonic: 5 },
});
const MANIFESTS = [
  'apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: a}}\nspec:\n  terminationGracePeriodSeconds: 30\n' +
    '  containers:\n  - name: web\n    image: a/b:1\n    command: [sexton, --drain, 5s, --, sh]\n    env:\n' +
    '    - {name: SEXTON_ROLE, value: main}\n    lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}\n---\n[1]\n',
  '{"apiVersion":"v1","kind":"List","items":[{"kind":"Service","spec":{"selector":{"app":"a"}}}]}',
  'services:\n  web: &w\n    image: a/b:1\n    stop_grace_period: 5s\n    command: ["sh", "-c", "a"]\n  log: *w\n',
];
const DOCKERFILES = [
  'ARG A=1\nFROM a:$A AS b\nRUN <<E\nx\nE\nFROM b\nCOPY ["x", "/y"]\nSTOPSIGNAL 15\n' +
    'SHELL ["/bin/sh","-c"]\nENTRYPOINT ["/sexton/sexton"]\nCMD web \\\n  --port 1\n',
];
const CONFIGS = [
  'role: sidecar\ndrain: 5s\nmains: [web, job]\nports: [{name: http, containerPort: 80}]\ncommand: [sh]\nargs: [-c, a]\n' +
    'readinessProbe: {httpGet: {path: /r, port: http}, periodSeconds: 2}\nlifecycle: {stopSignal: SIGQUIT}\n',
  '{"drain": 5, "startAfter": ["a"], "livenessProbe": {"exec": {"command": ["true"]}}, "reload": {"signal": "HUP"}}',
];

const PARSERS: Readonly<Record<string, Parser>> = {
  tombstone: {
    file: 'core/format/tombstone-parse.ts',
    seeds: [],
    load: async () => {
      const { checkParsed, mutated } = await import('../../hostile/tombstones.ts');
      const { chance } = await import('../../helpers/rounds.ts');
      return (text) => void checkParsed(mutated(chance(Number(text))).toString());
    },
  },
  'stop-request': {
    file: 'core/format/stop-request.ts',
    seeds: [REQUEST, REQUEST.replace('"Version":1', '"Version":2')],
    load: async () => {
      const { parseRequest } = await import('../../../src/core/format/stop-request.ts');
      return (text) => {
        const parsed = parseRequest(text);
        if (!parsed.ok) assert.ok(parsed.why !== '' && parsed.why.length < 300, parsed.why);
        else assert.ok(!/\p{Cc}/u.test(parsed.request.By), parsed.request.By);
      };
    },
  },
  events: {
    file: 'runtime/host/frames.ts',
    seeds: [
      ...[
        'signal 1 5 15 7 0',
        'ordered 1 5 1 each 15 2 7 0 1767323045678901234',
        'spawned 1 5 1 77',
        'spawn-failed 1 5 1 ENOENT',
        'silent 1 5 1',
      ],
      ...['exited 1 5 1 7 3  0', 'exited 1 5 1 7  9 1', 'roots-gone 1 5 1', 'told 1 5 1 15 2 7 left sh -'],
      ...['ordered 1 5 1 deadline 0 9 0 0 1767323045678901234', 'end-written 1 5 1 7 0 1767323045678901234'],
      ...['notified 1 5 1 0 READY=1', 'helper-ended 1 5 1 0   out', 'helper-ended 1 5 1   ENOENT '],
      ...['changed web log', 'watching 1 ENOENT', 'watching 1 ', `hello 1 ${'0'.repeat(32)} 5 1      0`],
      `hello 1 ${'0'.repeat(32)} 5 1 memo signal 3 drain  2`,
    ],
    load: async () => {
      const { decodeEvent, decodeHello, decodeNews, encodeFrame, FrameReader, ProtocolError } = await import(
        '../../../src/runtime/host/frames.ts'
      );
      return (text) => {
        const stream = Buffer.concat([encodeFrame(text.split(' ')), Buffer.from(text)]);
        const reader = new FrameReader();
        for (const decode of [decodeEvent, decodeHello, decodeNews]) tolerate(() => void decode(text.split(' ')));
        tolerate(() => void reader.push(stream.subarray(0, 7)));
        tolerate(() => void reader.push(stream.subarray(7)));
      };
      function tolerate(work: () => void): void {
        try {
          work();
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
        }
      }
    },
  },
  metrics: {
    file: 'runtime/probes/exposition.ts',
    seeds: ['# TYPE jobs gauge\njobs{a="x",b="y\\n"} 2 1700000000123\njobs 3 # {t="x"} 0.5\n', 'jobs NaN\njobs -1e3\n'],
    load: async () => {
      const { Exposition } = await import('../../../src/runtime/probes/exposition.ts');
      const sumOf = (bytes: Buffer, size: number) => {
        const exposition = new Exposition([{ name: 'jobs', labels: [['a', 'x']] }]);
        for (let at = 0; at < bytes.length; at += size) exposition.take(bytes.subarray(at, at + size));
        return exposition.end(false);
      };
      return (text) => assert.deepEqual(sumOf(Buffer.from(text), 3), sumOf(Buffer.from(text), 1000));
    },
  },
  flags: {
    file: 'config/notation/actions/idle.ts',
    seeds: [
      '--drain min=1s,quiet=2s,max=30s --idle-when http://:80/m,metric=a{b="c"}+d,for=2s,timeout=1s -- x',
      '--drain 5s --idle-when exec:true,stale=1s --readiness tcp://:5432,period=1s --liveness exec:a,failures=3 -- x',
      '--stop INT:5s,TERM:2s,KILL --signals USR1:HUP,HUP:- --exit-code 143=0,3=4 --stop-signals TERM,QUIT -- x',
      '--start-after a=healthy,b=completed? --mains a,b --when any --role sidecar --hold 3s --linger 1s -- x',
      '--restart-rules 42|43=restart,88=restart-all --restart-pod-on exit:3,liveness,max=6 --quit istio,http://:1/q -- x',
      '--notify all,watchdog=30s --reload /etc/a=HUP,validate=true --http 127.0.0.1:80 --grace-period 1m30s -- x',
    ],
    load: async () => {
      const { resolveRun } = await import('../../../src/config/resolve.ts');
      const { filesOf } = await import('../../config/files.ts');
      const files = filesOf();
      return (text) => {
        const resolution = resolveRun(text.split(' '), {}, files);
        if (resolution instanceof Promise || resolution.ok) return;
        assert.ok(resolution.problems.every((problem) => problem !== '' && !/[\p{Cc}--[\t\n]]/v.test(problem)));
      };
    },
  },
  'notify-text': {
    file: 'core/lifecycle/notified.ts',
    seeds: [
      'READY=1\nSTATUS=a b',
      'RELOADING=1\nMONOTONIC_USEC=5',
      'STOPPING=1\nEXTEND_TIMEOUT_USEC=1500000\nX_SEXTON_IDLE=1',
    ],
    load: async () => {
      const { Life, main } = await import('../../core/life.ts');
      const life = new Life(main({ notifies: true, watchdogMs: 1_000 })).pass(100);
      return (text) => {
        life.feed({ type: 'notified', id: 1, dropped: 0, text });
        const { Status = '' } = life.tombstone;
        assert.ok(Buffer.byteLength(Status) <= 200 && !/\p{Cc}/u.test(Status), Status);
      };
    },
  },
  config: {
    file: 'config/file/file.ts',
    seeds: CONFIGS,
    load: async () => {
      const { parseAsJson, readConfigFile } = await import('../../../src/config/file/file.ts');
      const { parseYaml } = await import('../../../src/config/file/yaml.ts');
      return (text) => {
        const parsed = parseAsJson('a.yaml', text) ?? parseYaml(text);
        if (parsed.ok) readConfigFile('a.yaml', parsed.value);
        else assert.notEqual(parsed.why, '');
      };
    },
  },
  manifests: {
    file: 'check/input/located.ts',
    seeds: MANIFESTS,
    load: async () => {
      const { readInputs } = await import('../../../src/check/input/texts.ts');
      const { objectsOf } = await import('../../../src/check/input/objects.ts');
      return (text) => void objectsOf(readInputs([{ path: 'a.yaml', text }]).roots, 0);
    },
  },
  dockerfile: {
    file: 'check/input/dockerfile.ts',
    seeds: DOCKERFILES,
    load: async () => {
      const { readInputs } = await import('../../../src/check/input/texts.ts');
      return (text) => void readInputs([{ path: 'Dockerfile', text }]);
    },
  },
};

export const TEXTS: readonly string[] = Object.keys(PARSERS);

/** A seed in which some stretches are replaced: by words of seeds, by syntax, by anything, or by many of these. */
function damaged(seeds: readonly string[]): fc.Arbitrary<string> {
  if (seeds.length === 0) return fc.nat().map(String);
  const words = [...new Set(seeds.flatMap((seed) => seed.split(/([\s:,="{}[\]]+)/)))].filter((it) => it !== '');
  const hard = ['__proto__', '\u0000', '\ud800', '\u2028', '9'.repeat(20), '1e999', '-', '&a ', '*a', '<<', '\r\n'];
  const splinter = fc.oneof(fc.constantFrom(...words), fc.constantFrom(...hard), fc.string({ maxLength: 5 }));
  const long = fc.tuple(splinter, fc.nat(13)).map(([word, power]) => word.repeat(2 ** power));
  const put = fc.oneof({ arbitrary: splinter, weight: 50 }, { arbitrary: long, weight: 1 });
  const edit = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(12), put);
  return fc.tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 6 })).map(([seed, edits]) => {
    return edits.reduce((text, [place, length, word]) => {
      const at = Math.floor(place * text.length);
      return text.slice(0, at) + word + text.slice(at + length);
    }, seed);
  });
}

/** The longest texts have some 100 KiB: in quadratic time they take far longer. */
const MOST_CPU_US = 2_000_000;

if (import.meta.main) {
  const [name = '', ms] = process.argv.slice(2);
  const parser = PARSERS[name];
  if (parser === undefined) throw new Error(`no parser ${name}: there are ${TEXTS.join(', ')}`);
  const path = join(ROOT, 'src', parser.file);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const read = await parser.load();
  let executions = 0;
  const property = fc.property(damaged(parser.seeds), (text) => {
    executions++;
    const before = process.threadCpuUsage();
    read(text);
    const { user, system } = process.threadCpuUsage(before);
    assert.ok(user + system < MOST_CPU_US, `${text.length} characters took ${user + system} microseconds of CPU`);
  });
  fc.assert(property, {
    ...{ seed: Date.now() | 0, numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: Number(ms) },
    markInterruptAsFailure: false,
  });
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const script = result.find(({ url }) => url === pathToFileURL(path).href);
  const found = coveredLines(readFileSync(path, 'utf8'), script?.functions ?? []);
  process.stdout.write(`${JSON.stringify({ executions, ...found })}\n`);
}
