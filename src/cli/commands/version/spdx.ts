/**
 * The same bill of materials in SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3). It is written when it is asked for,
 * since each pod would carry it otherwise.
 */
import { createHash } from 'node:crypto';
import { INVENTORY } from '../install/inventory.ts';
import { isFile, SBOM, type Sbom, type SbomComponent } from './sbom.ts';

const NONE_SAID = 'NOASSERTION';
const DOCUMENT = 'SPDXRef-DOCUMENT';
const ROOT = 'SPDXRef-sexton';

export function spdxOf({ metadata, components }: Sbom, created: Date): object {
  const { component: root } = metadata;
  const files = components.filter(isFile);
  const parts = components.filter((it) => !isFile(it));
  const code = verificationCode(files);
  const name = `${root.name}-${root.version}`;
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: DOCUMENT,
    name,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${code}`,
    creationInfo: { created: created.toISOString().replace(/\.\d+Z$/, 'Z'), creators: [`Tool: ${name}`] },
    packages: [
      {
        ...packageOf(root, ROOT),
        filesAnalyzed: true,
        packageVerificationCode: {
          packageVerificationCodeValue: code,
          packageVerificationCodeExcludedFiles: [`./${INVENTORY}`, `./${SBOM}`],
        },
      },
      ...parts.map((part, index) => ({ ...packageOf(part, partId(index)), filesAnalyzed: false })),
    ],
    files: files.map((file, index) => ({
      SPDXID: fileId(index),
      fileName: `./${file.name}`,
      checksums: (file.hashes ?? []).map(({ alg, content }) => ({
        algorithm: alg.replace('-', ''),
        checksumValue: content,
      })),
      licenseConcluded: NONE_SAID,
      copyrightText: NONE_SAID,
    })),
    relationships: [
      relation(DOCUMENT, 'DESCRIBES', ROOT),
      ...parts.map((_, index) => relation(ROOT, 'CONTAINS', partId(index))),
      ...files.map((_, index) => relation(ROOT, 'CONTAINS', fileId(index))),
    ],
  };
}

const partId = (index: number): string => `SPDXRef-part-${index}`;
const fileId = (index: number): string => `SPDXRef-file-${index}`;

function relation(spdxElementId: string, relationshipType: string, relatedSpdxElement: string): object {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

function packageOf({ name, version, licenses, purl, cpe }: SbomComponent, id: string): object {
  const refs = [
    ...(purl ? [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }] : []),
    ...(cpe ? [{ referenceCategory: 'SECURITY', referenceType: 'cpe23Type', referenceLocator: cpe }] : []),
  ];
  return {
    SPDXID: id,
    name,
    versionInfo: version,
    downloadLocation: NONE_SAID,
    licenseConcluded: NONE_SAID,
    licenseDeclared: licenses?.[0].expression ?? NONE_SAID,
    copyrightText: NONE_SAID,
    externalRefs: refs,
  };
}

/** Section 7.9: the SHA-1 of all SHA-1 of the files, in their order. */
function verificationCode(files: readonly SbomComponent[]): string {
  const digests = files.flatMap(({ hashes = [] }) => hashes.filter(({ alg }) => alg === 'SHA-1'));
  const text = digests.map(({ content }) => content).sort();
  return createHash('sha1').update(text.join('')).digest('hex');
}
