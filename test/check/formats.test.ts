import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { check } from '../../src/check/check.ts';
import { applied } from '../../src/check/edits.ts';
import { githubOf, junitOf } from '../../src/check/formats/machine.ts';
import { checkPage, workloadSvg } from '../../src/check/formats/pictures.ts';
import { sarifOf } from '../../src/check/formats/sarif.ts';
import { textOf } from '../../src/check/formats/text.ts';
import { timelineChart } from '../../src/check/formats/timeline.ts';
import { chartLines } from '../../src/report/text.ts';
import { examples } from './rules.ts';
import { everyFinding, SARIF_SHAPE } from './sarif.ts';
import { type Element, parseXml } from './xml.ts';

const result = await everyFinding();
const ajv = new Ajv2020({ allErrors: true });
const STYLE = { width: 80, colours: false, ascii: true };

describe('the formats of a check', () => {
  it('SARIF has rules, places, fingerprints, and fixes that do what --fix does', () => {
    const sarif = JSON.parse(sarifOf(result, '1.2.3'));
    assert.deepEqual(faultsOf(SARIF_SHAPE, sarif), []);
    assert.notDeepEqual(faultsOf(SARIF_SHAPE, { ...sarif, runs: [{}] }), []);
    const [{ tool, results, invocations }] = sarif.runs;
    assert.equal(results.length, result.findings.length);
    assert.equal(invocations[0].executionSuccessful, false);
    for (const [index, one] of results.entries()) {
      const finding = result.findings[index];
      assert.ok(finding);
      assert.equal(tool.driver.rules[one.ruleIndex].id, one.ruleId);
      assert.ok(['error', 'warning', 'note'].includes(one.level));
      const { region, artifactLocation } = one.locations[0].physicalLocation;
      assert.ok(region.startLine >= 1 && region.startColumn >= 1 && region.endLine >= region.startLine);
      assert.doesNotThrow(() => new URL(artifactLocation.uri, 'file:///'));
      assert.equal(decodeURIComponent(artifactLocation.uri.replace('file://', '')), finding.place.source.path);
      assert.equal(artifactLocation.uri.startsWith('file:///'), finding.place.source.path.startsWith('/'));
      assert.match(one.partialFingerprints['sexton/v1'], /^[0-9a-f]{32}$/);
      if (finding.edits.length === 0) continue;
      const text = finding.place.source.text;
      const edits = one.fixes[0].artifactChanges[0].replacements.map(
        (part: { deletedRegion: { charOffset: number; charLength: number }; insertedContent: { text: string } }) => ({
          source: finding.place.source,
          start: part.deletedRegion.charOffset,
          end: part.deletedRegion.charOffset + part.deletedRegion.charLength,
          text: part.insertedContent.text,
        }),
      );
      assert.equal(applied(text, edits), applied(text, finding.edits));
    }
  });

  it('SARIF counts characters without the byte order mark', async () => {
    const text = examples('SX101').bad;
    const [marked, plain] = await Promise.all(
      [`\ufeff${text}`, text].map(async (one) => sarifOf(await check([{ path: 'a.yaml', text: one }]), '1.0.0')),
    );
    assert.ok(plain?.includes('charOffset'));
    assert.equal(marked, plain);
  });

  it("GitHub's runner reads the workflow commands as they were meant", () => {
    const commands = githubOf(result).trimEnd().split('\n').map(commandOf);
    assert.equal(commands.length, result.findings.length + result.unreadable.length);
    for (const [index, finding] of result.findings.entries()) {
      const { name, message, properties } = commands[index] ?? assert.fail();
      assert.equal(name, { error: 'error', warning: 'warning', info: 'notice' }[finding.severity]);
      assert.equal(message, finding.message);
      assert.equal(properties.file, finding.place.source.path);
      assert.equal(properties.title, `sexton ${finding.rule}`);
      assert.ok(Number(properties.line) >= 1);
      // The runner ignores a column if the finding has several lines.
      assert.equal(properties.col === undefined, properties.endLine !== undefined);
      if (properties.endLine !== undefined) assert.ok(Number(properties.endLine) > Number(properties.line));
    }
    assert.ok(commands.some(({ properties }) => properties.endLine !== undefined));
    const last = commands.at(-1);
    assert.deepEqual([last?.name, last?.properties.file], ['error', 'broken.yaml']);
  });

  it("JUnit follows Surefire's schema and has a suite with correct counts for each input", () => {
    const root = parseXml(junitOf(result));
    assert.equal(root.name, 'testsuites');
    const inputs = new Set([...result.sources, ...result.unreadable].map(({ path }) => path));
    assert.deepEqual(
      root.children.map(({ attributes }) => attributes.name),
      [...inputs],
    );
    const told: string[] = [];
    for (const suite of root.children) {
      needs(suite, 'testsuite', ['name', 'tests', 'errors', 'skipped', 'failures', 'time']);
      for (const testcase of suite.children) {
        needs(testcase, 'testcase', ['name', 'classname', 'time']);
        assert.match(testcase.attributes.time ?? '', /^\d*(\.\d{0,3})?$/);
        assert.ok(testcase.children.length <= 1);
        for (const outcome of testcase.children) {
          needs(outcome, outcome.name === 'error' ? 'error' : 'failure', ['type', 'message']);
          if (outcome.name === 'failure') told.push(outcome.attributes.message ?? '');
        }
      }
      assert.equal(suite.attributes.tests, String(suite.children.length));
      assert.equal(suite.attributes.failures, String(outcomes(suite, 'failure')));
      assert.equal(suite.attributes.errors, String(outcomes(suite, 'error')));
    }
    const failures = result.findings.filter(({ severity }) => severity !== 'info').map(({ message }) => message);
    assert.deepEqual(told.sort(), failures.sort());
    assert.equal(root.attributes.failures, String(failures.length));
    assert.equal(root.attributes.errors, String(result.unreadable.length));
  });

  it('JUnit reports an input that is missing', () => {
    const missing = { ...result, unreadable: [{ path: 'missing.yaml', line: undefined, why: 'no such\tfile\u0000' }] };
    const suite = parseXml(junitOf(missing)).children.find(({ attributes }) => attributes.name === 'missing.yaml');
    assert.equal(suite?.children[0]?.children[0]?.attributes.message, 'no such\tfile?');
  });

  it('pictures and pages contain no markup from a manifest', async () => {
    const name = '</text><script>alert(1)</script>\u001b]0;x\u0007\u202e"><img onerror=x>';
    const lifecycle = { preStop: { sleep: { seconds: 60 } } };
    const spec = { containers: [{ name, image: 'debian:12', command: ['sh', '-c', 'a && b'], lifecycle }] };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
    const hostile = await check([{ path: `${name}.yaml`, text: JSON.stringify(object) }]);
    const [workload] = hostile.workloads;
    assert.ok(workload !== undefined && hostile.findings.length > 0);
    for (const drawn of [checkPage(hostile), workloadSvg(workload, hostile)]) {
      assert.doesNotMatch(drawn, /<script|<img|[^\P{Cc}\n]|\p{Bidi_Control}/u);
      assert.match(drawn, /alert\(1\)/);
    }
  });

  it('the text shows each finding once, even when two files name the same workload', async () => {
    const { bad } = examples('SX101');
    const both = await check([
      { path: 'a/web.yaml', text: bad },
      { path: 'b/web.yaml', text: bad },
    ]);
    const text = textOf(both, STYLE, false);
    const told = ['a/web.yaml', 'b/web.yaml'].map((path) => `${path}:14:22 error SX101`);
    assert.deepEqual(text.match(/^\S+ error SX101/gm), told);
  });

  it('text and page list an unused ignore beside the workloads', async () => {
    const found = await check([{ path: 'web.yaml', text: `${examples('SX101').bad}# sexton-ignore SX206: no npm\n` }]);
    assert.match(checkPage(found), /Other findings.*SX901/s);
    assert.match(textOf(found, STYLE, false), /shorten the hook\.\n\nweb\.yaml:15:1 info SX901/);
  });

  it('the timeline keeps to its width, and to ASCII where that is asked for', () => {
    for (const { view } of result.workloads)
      for (const line of chartLines(timelineChart(view.timeline, result.findings), STYLE)) {
        assert.match(line, /^[ -~]*$/);
        assert.ok(line.length <= 80, line);
      }
  });
});

function faultsOf(schema: object, value: unknown): unknown {
  const isRight = ajv.compile(schema);
  return isRight(value) ? [] : isRight.errors;
}

function needs({ name, attributes }: Element, expected: string, keys: readonly string[]): void {
  assert.equal(name, expected);
  assert.deepEqual(Object.keys(attributes).sort(), keys.toSorted(), name);
}

function outcomes({ children }: Element, name: string): number {
  return children.filter((one) => one.children.some((outcome) => outcome.name === name)).length;
}

/** Parses a line as the runner of GitHub does: properties by comma and equals sign, then the escapes. */
function commandOf(line: string) {
  const [, name = '', head = '', message = ''] = /^::([a-z]+) ([^:]*)::(.*)$/.exec(line) ?? assert.fail(line);
  const unescaped = (text: string): string =>
    text
      .replaceAll('%3A', ':')
      .replaceAll('%2C', ',')
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%25', '%');
  const properties = head.split(',').map((pair) => {
    const [, key = '', value = ''] = /^([A-Za-z]+)=(.+)$/.exec(pair) ?? assert.fail(pair);
    return [key, unescaped(value)] as const;
  });
  const data = message.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
  return { name, message: data, properties: Object.fromEntries(properties) as Readonly<Record<string, string>> };
}
