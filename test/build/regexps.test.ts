/** Others write what the regular expressions of the product search: none may take more than linear time. */
import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { it } from 'node:test';
import type { Node } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';
import { ROOT } from '../helpers/paths.ts';
import { slowTextFor } from './regexps.ts';

it('no regular expression of the product takes more than linear time', () => {
  const slow = literals().flatMap(([place, literal]) => {
    const text = slowTextFor(literal);
    return text === undefined ? [] : [`${place} ${literal}: ${text}`];
  });
  assert.deepEqual(slow, []);
});

for (const slow of [
  ...[/(\d+\.?\d*)x/, /^(?:\d+\.?\d*s)+$/, /\/+$/, /.*@/s, /^\s*#/gm, /EACCES: .*, lstat /, /-dev.*$/],
  ...[/_HOST(_[A-Z0-9_]+)?$/, /("[^"\\]*(?:\\.[^"\\]*)*")\s*:|[{}]/g, /\+(?![^{]*\})/g, /^(?:\s*(?:#.*)?\n)*---/],
  ...[/(^|[;&|\s])kill\s+(-[sn]\s+\S+\s+|-(?![sn]\s)\S+\s+)*1/, /^([a-z0-9-]+)(?::[^/]*)?(?:@.*)?$/],
])
  it(`${slow} is found to be slow`, () => assert.ok(slowTextFor(slow)));

/** Those of the build read nothing that others write. */
function literals(): readonly (readonly [place: string, literal: RegExp])[] {
  const api = new API({ cwd: ROOT });
  const found: [string, RegExp][] = [];
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${ROOT}/tsconfig.json`] }).getProjects();
    for (const path of project?.program.getSourceFileNames() ?? []) {
      const file = relative(ROOT, path);
      const source = /^src\/(?!delivery\/)/.test(file) ? project?.program.getSourceFile(path) : undefined;
      const visit = (node: Node): void => {
        if (is.isRegularExpressionLiteral(node)) {
          const end = node.text.lastIndexOf('/');
          const line = source?.text.slice(0, node.end).split('\n').length;
          found.push([`${file}:${line}`, new RegExp(node.text.slice(1, end), node.text.slice(end + 1))]);
        }
        node.forEachChild(visit);
      };
      source?.forEachChild(visit);
    }
  } finally {
    api.close();
  }
  return found;
}
