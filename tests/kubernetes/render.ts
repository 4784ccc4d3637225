import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { mustRun } from '../clients/run.ts';
import { programFile } from './install.ts';

export const overlays = ['local', 'production', 'managed'] as const;
export type Overlay = (typeof overlays)[number];

/** A rendered object. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

/** Returns what `kubectl kustomize` prints for an overlay. */
export const renderText = (overlay: Overlay): Promise<string> =>
  mustRun(programFile('kustomize'), [
    'build',
    fileURLToPath(new URL(`../../k8s/overlays/${overlay}`, import.meta.url)),
  ]);

/** Returns the objects of an overlay. */
export const render = async (overlay: Overlay): Promise<Manifest[]> =>
  parseAllDocuments(await renderText(overlay)).map((document) => document.toJS() as Manifest);

/** Returns the objects of one kind, with what its kind says about `spec`. */
export const ofKind = <Spec>(manifests: Manifest[], kind: string) =>
  manifests.filter((manifest) => manifest.kind === kind) as (Manifest & { spec: Spec })[];
