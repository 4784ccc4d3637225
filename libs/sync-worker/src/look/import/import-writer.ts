import { serviceCaller } from '@secrets/caller';
import {
  Fault,
  type ImportWrite,
  importedTypes,
  importPathOf,
  Problem,
  type ProblemKind,
  type SignedGrant,
  workerOf,
} from '@secrets/domain';
import type { InternalClient } from '@secrets/http';
import type { Sealed } from '@secrets/seal';

/** Writes values of external secrets to the secrets service. */
export interface ImportWriter {
  /**
   * Writes a value where sync-control has permitted it. Throws `Fault`: `unavailable` if that may succeed later, and `rejected`
   * if the value cannot be that of a secret.
   */
  write(signed: SignedGrant, text: Sealed<string>): Promise<void>;
}

/** Writes as the worker of a type, with the key of that direction. */
export const importWriter = (client: InternalClient, type: string): ImportWriter => ({
  write: async (signed, text) => {
    const body: ImportWrite = { ...signed, text: text.reveal() };
    const caller = serviceCaller(workerOf(type), crypto.randomUUID());
    await client.call('POST', `/v1${importPathOf(type)}`, caller, body).catch(refused);
  },
});

/** Whether the values of a type can be imported, so that its worker has a key for it. */
export const isImported = (type: string): boolean => importedTypes.some((one) => one === type);

/** Used by a worker without a key for secrets. */
export const noImportWriter: ImportWriter = {
  write: async () => {
    throw new Fault('unavailable', 'the worker has no key for secrets (SECRETS_KEY_FILE)');
  },
};

const permanent: ReadonlySet<ProblemKind> = new Set(['invalid', 'too_large']);

function refused(error: unknown): never {
  if (!(error instanceof Problem)) throw error;
  throw new Fault(permanent.has(error.kind) ? 'rejected' : 'unavailable', error.message);
}
