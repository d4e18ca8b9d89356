import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { check } from '../../src/check/check.ts';
import { collect } from '../../src/check/files.ts';
import { positionAt } from '../../src/check/input/source.ts';
import type { Input } from '../../src/check/input/texts.ts';
import { ROOT } from '../helpers/paths.ts';
import { RULES_PAGE, rulesPage } from './page.ts';

/** All manifests, Compose files and Dockerfiles shown, but not those of docs/rules.md, which shows findings. */
function inputs(): readonly Input[] {
  process.chdir(ROOT);
  const files = globSync(['examples/**/*.{yaml,yml}', 'examples/**/Dockerfile*', 'docker/**/*Dockerfile'], {
    cwd: ROOT,
  }).sort();
  const whole = collect(files, () => Buffer.of()).inputs;
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT, exclude: ['docs/rules.md'] }).sort();
  const blocks = pages.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    return [...text.matchAll(/^```(yaml|dockerfile)\n(.*?)^```$/gms)]
      .filter(isWhole)
      .map(({ index, 1: language, 2: block = '' }) => {
        const line = text.slice(0, index).split('\n').length + 1;
        return { path: `${page}:${line}${language === 'dockerfile' ? '/Dockerfile' : ''}`, text: asObject(block) };
      });
  });
  return [...whole, ...blocks];
}

/** A page may show one line of a Dockerfile. */
function isWhole([, language, block = '']: RegExpExecArray): boolean {
  return language !== 'dockerfile' || /^FROM /m.test(block);
}

/** README shows the spec of a pod only. */
function asObject(block: string): string {
  if (!/^spec:/.test(block)) return block;
  const kind = /restartPolicy: (Never|OnFailure)/.test(block) ? 'Pod' : 'Deployment';
  if (kind === 'Pod') return `apiVersion: v1\nkind: Pod\n${block}`;
  return `apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n${block.replaceAll(/^(?=.)/gm, '    ')}`;
}

describe('the repository under its own check', () => {
  it('the repository has no finding that is not ignored with a reason', async () => {
    const { findings, ignored, workloads, others, unreadable } = await check(inputs());
    const told = findings.map(({ place, rule, message }) => {
      const { line } = positionAt(place.source, place.start);
      return `${place.source.path}:${line} ${rule} ${message}`;
    });
    assert.deepEqual(told, []);
    assert.deepEqual(
      ignored.filter(({ reason }) => reason === undefined),
      [],
    );
    assert.deepEqual(unreadable, []);
    assert.ok(workloads.length >= 12 && others >= 4, `${workloads.length} and ${others}`);
  });

  it('the page of the rules has an up-to-date section for every rule', () => {
    assert.equal(readFileSync(RULES_PAGE, 'utf8'), rulesPage(), 'node test/check/page.ts writes it');
  });
});
