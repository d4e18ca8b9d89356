/**
 * The bill of materials of the self-contained directory, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json). The
 * build writes it; `sexton version` prints what it says.
 */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: { readonly component: SbomComponent };
  /** The parts, then the files. */
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export interface SbomComponent {
  readonly type: 'application' | 'library' | 'file';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version?: string;
  readonly licenses?: readonly [{ readonly expression: string }];
  readonly purl?: string;
  readonly cpe?: string;
  readonly hashes?: readonly { readonly alg: 'SHA-1' | 'SHA-256'; readonly content: string }[];
}

/** The name that it has in the directory. It lists all files but itself and the inventory, which has its digest. */
export const SBOM = 'sbom.cdx.json';

export const isFile = ({ type }: SbomComponent): boolean => type === 'file';
