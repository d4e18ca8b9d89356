/** `sexton report` as a user calls it. ajv, which is not ours, validates its JSON. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stringify } from 'yaml';
import { ROOT, SEXTON } from '../helpers/paths.ts';
import { temporaryDirectory } from '../helpers/temporary.ts';
import { waitForTombstone } from '../helpers/tombstone.ts';
import { EVIDENCE, FILES, podOf } from './pods.ts';

function sexton(
  args: readonly string[],
  input = '',
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(SEXTON, args, { input, encoding: 'utf8', maxBuffer: 64 << 20 });
  return { status, stdout, stderr };
}

function graveyard(): string {
  const dir = join(temporaryDirectory(), 'graveyard');
  mkdirSync(dir);
  for (const [index, name] of ['main', 'proxy'].entries()) writeFileSync(join(dir, name), FILES[index] ?? '');
  return dir;
}

const LINE = JSON.stringify({ level: 'info', message: 'dead', evidence: { ...EVIDENCE, Session: 'b' } });

function reportSchema() {
  const { status, stdout, stderr } = sexton(['schema', 'report']);
  assert.equal(status, 0, stderr);
  return new Ajv2020({ allErrors: true, validateFormats: false }).compile(JSON.parse(stdout));
}

describe('sexton report', () => {
  it('sexton report reads a graveyard, files and standard input at once', () => {
    const file = join(temporaryDirectory(), 'pods.yaml');
    writeFileSync(file, stringify(podOf('web-0', { main: EVIDENCE })));
    const { status, stdout } = sexton(['report', '-o', 'json', graveyard(), file, '-'], `${LINE}\n`);
    assert.equal(status, 0);
    const pods = JSON.parse(stdout).pods.map(({ pod, members }: { pod: string; members: [] }) => [pod, members.length]);
    assert.equal(pods.sort().join(' '), 'b,1 shop/web-0,1 web-0,2');
  });

  it('sexton report prints JSON that its own schema allows', () => {
    const isRight = reportSchema();
    const lines = [
      LINE,
      JSON.stringify({ ...EVIDENCE, Role: 'main', GraceLeftMs: -5, Signal: 'SIGKILL', ForcedBy: 'sexton' }),
    ];
    for (const args of [[graveyard()], ['-'], [graveyard(), '-']]) {
      const { stdout } = sexton(['report', '-o', 'json', ...args], lines.join('\n'));
      const printed = JSON.parse(stdout) as object;
      assert.ok(isRight(printed), JSON.stringify(isRight.errors));
      assert.ok(!isRight({ ...printed, version: 2 }) && !isRight({ ...printed, more: 1 }));
    }
  });

  for (const [format, begins] of Object.entries({
    text: /^pod of main \(session web-0\): forced/,
    html: /^<!doctype html>/,
    svg: /^<svg xmlns=/,
    json: /^\{\n {2}"version": 1/,
    perfetto: /^\{"displayTimeUnit":"ms","traceEvents":\[/,
  }))
    it(`sexton report draws ${format}, also into a pipe`, () => {
      const { status, stdout, stderr } = sexton(['report', '--output', format, graveyard()]);
      assert.deepEqual([status, stderr], [0, '']);
      assert.match(stdout, begins);
      if (format === 'text') for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
    });

  it('draws the demo as in the picture of README, docs/stop.svg', () => {
    const { stdout } = sexton(['report', '-o', 'svg', join(ROOT, 'test', 'report', 'demo')]);
    const committed = readFileSync(join(ROOT, 'docs', 'stop.svg'), 'utf8');
    assert.equal(committed, stdout, 'to update the picture: npm run build && node examples/demo/demo.ts --picture');
  });

  it('exits with 1 when what --fail-on names has happened, and only then', () => {
    const late = JSON.stringify({ ...EVIDENCE, GraceLeftMs: -5 });
    const calls: readonly (readonly [number, readonly string[], string?])[] = [
      [1, ['--fail-on', 'forced', graveyard()]],
      [0, ['--fail-on', 'late', graveyard()]],
      [1, ['--fail-on', 'forced,late', graveyard()]],
      [1, ['--fail-on', 'late', '-'], late],
      [0, ['--fail-on', 'forced', '-'], late],
    ];
    for (const [status, args, input] of calls)
      assert.equal(sexton(['report', ...args], input).status, status, args.join(' '));
  });

  it('sexton report refuses what it cannot read or does not know, with the remedy', () => {
    const calls: readonly (readonly [readonly string[], RegExp])[] = [
      [['-o', 'htm', '-'], /-o '?htm'?: .*text, .*; did you mean html\?/],
      [['--fail-on', 'slow', '-'], /--fail-on '?slow'?: .*forced, late/],
      [['/nowhere/at/all'], /'?\/nowhere\/at\/all'?: no such file or directory/],
      [['-'], /report: -: no line of it has the evidence that sexton writes/],
      [[temporaryDirectory()], /: it has no tombstone/],
      [['--wide', '-'], /--wide/],
      [['--watch', '-'], /--watch/],
      [['--against', '-', '-'], /--against -: name the file of the manifest/],
      [['--against', '/nowhere.yaml', '-'], /--against '?\/nowhere\.yaml'?: .*no such file or directory/],
      [['--against', 'a.yaml', '-o', 'perfetto', '-'], /--against: perfetto cannot show it; take text, html, svg/],
      [['-o', 'svg', '-', graveyard()], /--output svg: draws one pod, and there are 2/],
    ];
    for (const [args, message] of calls) {
      const { status, stderr, stdout } = sexton(
        ['report', ...args],
        args.includes('svg') || args.includes('/nowhere.yaml') ? LINE : 'nothing\n',
      );
      assert.deepEqual([status, stdout], [125, ''], args.join(' '));
      assert.match(stderr, message);
    }
  });
});

describe('sexton report of a graveyard', () => {
  it('sexton report reports a member whose init was killed as lost, as sexton status does', async () => {
    const dir = temporaryDirectory();
    const flags = ['--name', 'main', '--graveyard', dir, '--restart-policy', 'Never'];
    const child = spawn(SEXTON, ['run', ...flags, '--', 'sleep', '600'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const { History = [] } = await waitForTombstone(dir, 'main', 'runs', ({ Phase }) => Phase === 'running');
    const command = Number(History.find(({ Event }) => Event === 'started')?.Pid);
    child.kill('SIGKILL');
    await ended;
    process.kill(command, 'SIGKILL');
    const { stdout, stderr } = sexton(['report', dir]);
    assert.match(stdout, /^pod of main: lost: main$/m, stderr);
    assert.match(stdout, /^main .* lost$/m);
    assert.match(sexton(['report', '--watch', dir]).stdout, /^main .* lost$/m);
  });
});

describe('sexton report --against', () => {
  it('sexton report --against shows the prediction of a manifest beside the stop of a member', async (t) => {
    const dir = temporaryDirectory();
    const flags = ['--name', 'main', '--graveyard', dir, '--restart-policy', 'Never', '--stop', 'TERM:20s,KILL'];
    const script = "trap 'exit 0' TERM; while :; do sleep 0.05; done";
    const manifest = (drain: string): string => {
      const command = ['/sexton/sexton', 'run', ...flags, '--drain', drain, '--', 'sh', '-c', script];
      const file = join(temporaryDirectory(), 'pod.json');
      const containers = [{ name: 'a', image: 'debian:12', command }];
      writeFileSync(
        file,
        JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers } }),
      );
      return file;
    };
    const child = spawn(SEXTON, ['run', ...flags, '--drain', '100ms', '--', 'sh', '-c', script], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await waitForTombstone(dir, 'main', 'runs', ({ Phase }) => Phase === 'running');
    child.kill('SIGTERM');
    await ended;
    const short = sexton(['report', '--against', manifest('100ms'), dir]);
    assert.equal(short.status, 0, short.stderr);
    assert.match(short.stdout, /^ {2}predicted .* 100 ms to 20 s, perhaps KILL$/m);
    assert.match(short.stdout, /^as predicted from Pod\/a of/m);
    const report = JSON.parse(sexton(['report', '-o', 'json', '--against', manifest('15s'), dir]).stdout);
    assert.match(report.pods[0].prediction.differences.join(), /^main: ended after .*s, predicted was 15 s to 30 s$/);
    const isRight = reportSchema();
    assert.ok(isRight(report), JSON.stringify(isRight.errors));
    for (const format of ['svg', 'html'])
      assert.match(
        sexton(['report', '-o', format, '--against', manifest('15s'), dir]).stdout,
        /not as predicted from Pod\/a/,
      );
  });
});

describe('sexton report --watch', () => {
  it('sexton report --watch shows the deadline and what each member does, until all have ended', async (t) => {
    const dir = temporaryDirectory();
    const run = (name: string, flags: readonly string[], script: string) => {
      const common = ['--graveyard', dir, '--session', 'watched', '--restart-policy', 'Never', '--grace-period', '60s'];
      const child = spawn(SEXTON, ['run', '--name', name, ...common, ...flags, '--', 'sh', '-c', script], {
        stdio: 'ignore',
      });
      t.after(() => child.kill('SIGKILL'));
      return child;
    };
    const flag = join(temporaryDirectory(), 'go');
    const main = run(
      'main',
      [],
      `trap 'while [ ! -e ${flag} ]; do sleep 0.1; done; exit 0' TERM; while :; do sleep 0.1; done`,
    );
    const proxy = run('proxy', ['--role', 'sidecar', '--mains', 'main'], 'exec sleep 600');
    await waitForTombstone(dir, 'main', 'runs', ({ Phase }) => Phase === 'running');
    await waitForTombstone(dir, 'proxy', 'runs', ({ Phase }) => Phase === 'running');
    const watching = spawn(SEXTON, ['report', '--watch', dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => watching.kill('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => watching.once('close', resolve));
    main.kill('SIGTERM');
    proxy.kill('SIGTERM');
    let shown = '';
    for await (const part of watching.stdout.setEncoding('utf8')) {
      shown += part;
      if (/proxy: hold for .*, waits for the end of main\n.*in \d+ s the deadline ends main, proxy by KILL/.test(shown))
        writeFileSync(flag, '');
    }
    assert.equal(await ended, 0);
    assert.match(shown, /main: TERM for /);
    assert.match(shown, /ended last +proxy: TERM .*, after main had ended/);
  });
});
