import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { applied } from '../../src/check/edits.ts';
import { githubOf, gitlabOf, junitOf, markdownOf, sarifOf } from '../../src/check/formats/machine.ts';
import { checkPage, workloadSvg } from '../../src/check/formats/pictures.ts';
import { timelineChart } from '../../src/check/formats/timeline.ts';
import { parseLocated, textAt } from '../../src/check/input/located.ts';
import { isResourceList, krmOf } from '../../src/check/krm.ts';
import { RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { chartLines } from '../../src/report/chart-text.ts';

const ALL = RULES.filter(({ language }) => language === 'yaml')
  .map(({ bad }) => bad)
  .join('---\n');
const result = await check([
  { path: 'dir/a,b:c.yaml', text: ALL },
  { path: 'broken.yaml', text: 'a: [\n' },
]);

describe('the formats of a check', () => {
  it('are SARIF with rules, places, fingerprints and fixes that do what --fix does', () => {
    const sarif = JSON.parse(sarifOf(result, '1.2.3'));
    assert.equal(sarif.version, '2.1.0');
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
      assert.equal(decodeURIComponent(artifactLocation.uri), finding.place.source.path);
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

  it('are lines for GitHub, each a command with its properties escaped', () => {
    const lines = githubOf(result).trimEnd().split('\n');
    assert.equal(lines.length, result.findings.length + result.unreadable.length);
    for (const line of lines) assert.match(line, /^::(error|warning|notice) (\w+=[^,:\n]*,?)+::.+$/);
    assert.match(lines[0] ?? '', /file=(dir\/a%2Cb%3Ac|broken)\.yaml,/);
  });

  it('are the fields that GitLab needs', () => {
    const issues: readonly Record<string, unknown>[] = JSON.parse(gitlabOf(result));
    assert.equal(issues.length, result.findings.length);
    assert.equal(new Set(issues.map(({ fingerprint }) => fingerprint)).size, issues.length);
    for (const { severity } of issues) assert.ok(['info', 'minor', 'major'].includes(String(severity)));
  });

  it('are JUnit with a suite an input, whose counts are right', () => {
    const xml = junitOf(result);
    const failures = result.findings.filter(({ severity }) => severity !== 'info').length;
    assert.equal(xml.match(/<failure /g)?.length, failures);
    assert.equal(xml.match(/<error /g)?.length, 1);
    assert.match(xml, new RegExp(`name="dir/a,b:c.yaml" tests="${failures}" failures="${failures}" errors="0"`));
    // Nothing but the five entities, and every element closed.
    assert.doesNotMatch(xml.replaceAll(/&(amp|lt|gt|quot|apos);/g, ''), /&/);
    const open = xml.match(/<(testsuites?|testcase|failure)\b[^>/]*(?:\/(?!>)[^>/]*)*>/g)?.length ?? 0;
    assert.equal(xml.match(/<\/(testsuites?|testcase|failure)>/g)?.length, open);
  });

  it('are a table in Markdown, in which no text breaks a row', () => {
    const rows = markdownOf(result)
      .split('\n')
      .filter((line) => line.startsWith('|'));
    assert.equal(rows.length, result.findings.length + 2);
    for (const row of rows) assert.equal(row.replaceAll('\\|', '').match(/\|/g)?.length, 6, row);
  });

  it('are a KRM list that keeps its items byte for byte, and has results', async () => {
    const item = ruleNamed('SX101').bad.trimEnd().replaceAll('\n', '\n  ');
    const text = `apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n# first\n- ${item}\n`;
    assert.ok(isResourceList(text));
    assert.ok(!isResourceList(item));
    const checked = await check([{ path: '-', text }]);
    const out = krmOf(text, checked);
    assert.ok(out.includes(`items:\n# first\n- ${item}\n`));
    const [root] = parseLocated(out).roots;
    assert.equal(textAt(root, 'results', 0, 'severity'), 'error');
    assert.equal(textAt(root, 'results', 0, 'resourceRef', 'name'), 'web');
    assert.match(textAt(root, 'results', 0, 'message') ?? '', /^SX101: /);
    // Its own output again.
    assert.equal(krmOf(out, await check([{ path: '-', text: out }])), out);
    const json = JSON.stringify({ kind: 'ResourceList', apiVersion: 'config.kubernetes.io/v1', items: [] });
    assert.deepEqual(JSON.parse(krmOf(json, await check([{ path: '-', text: json }]))).results, []);
  });

  it('are pictures in which nothing of a manifest is markup', async () => {
    const name = '</text><script>alert(1)</script>\u001b]0;x\u0007\u202e"><img onerror=x>';
    const pod = {
      name,
      image: 'debian:12',
      command: ['sh', '-c', 'a && b'],
      lifecycle: { preStop: { sleep: { seconds: 60 } } },
    };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [pod] } };
    const hostile = await check([{ path: `${name}.yaml`, text: JSON.stringify(object) }]);
    const [workload] = hostile.workloads;
    assert.ok(workload !== undefined && hostile.findings.length > 0);
    for (const drawn of [checkPage(hostile), workloadSvg(workload, hostile)]) {
      assert.doesNotMatch(drawn, /<script|<img|[^\P{Cc}\n]|\p{Bidi_Control}/u);
      assert.match(drawn, /alert\(1\)/);
    }
  });

  it('draw a timeline no wider than they may, in ASCII where that is asked', () => {
    for (const { view } of result.workloads) {
      const style = { width: 80, colours: false, ascii: true };
      for (const line of chartLines(timelineChart(view.timeline, result.findings), style)) {
        assert.match(line, /^[ -~]*$/);
        assert.ok(line.length <= 80, line);
      }
    }
  });
});
