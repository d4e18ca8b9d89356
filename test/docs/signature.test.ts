/**
 * The `cosign verify` that the pages tell people to run. cosign finds its expression anywhere in the identity of the
 * signer, as
 * `RegExp.test` does, so one that is not anchored takes anybody's signature.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/paths.ts';

const WORKFLOW = '.github/workflows/release.yml';
const OURS = `https://github.com/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3`;
const OTHERS = [
  `https://github.com/mallory/sexton/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/acme/other/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/.github/workflows/test.yml@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/${WORKFLOW}@refs/heads/main`,
  `https://github.com/acme/sexton/${WORKFLOW}@refs/heads/x@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/.github/workflows/release-yml@refs/tags/v1.2.3`,
  `https://githubxcom/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/mallory/x/https://github.com/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3`,
  `https://github.com/acme/sexton/${WORKFLOW}@refs/tags/v1.2.3\nmallory`,
];

for (const page of ['docs/security.md', 'docs/npm.md'])
  test(`B2 the signature check of ${page} takes a release of the owner that is filled in, and no other`, () => {
    const [, pattern = ''] =
      /--certificate-identity-regexp '([^']+)'/.exec(readFileSync(join(ROOT, page), 'utf8')) ?? [];
    assert.match(pattern, /OWNER/);
    const expression = new RegExp(pattern.replace('OWNER', 'acme'));
    assert.ok(expression.test(OURS), pattern);
    assert.deepEqual(
      OTHERS.filter((identity) => expression.test(identity)),
      [],
    );
  });
