import type { Api } from '../../../../api/client.ts';
import { readKeys, readMetadata, readVersion, type SecretMetadata, type SecretRef } from '../../queries.ts';
import { versionsOf } from '../versions/version-state.ts';

/** The operations on a secret that the token may perform. */
export interface Rights {
  creates: boolean;
  updates: boolean;
  patches: boolean;
  reads: boolean;
  readsKeys: boolean;
  readsMetadata: boolean;
}

/** The version on which the next one is based. */
export interface Base {
  /** The newest version, 0 if there is none, undefined if the token may not know. */
  version: number | undefined;
  /** The top-level keys of the newest readable version; undefined if the token may not know. */
  keys: readonly string[] | undefined;
  /** Its values; undefined unless the token may read and replace them. */
  values: Record<string, unknown> | undefined;
  /** Whether the next version replaces this one. Otherwise it is a merge patch. */
  replaces: boolean;
}

/** The base of a secret that does not exist. */
export const noVersion: Base = { version: 0, keys: [], values: {}, replaces: true };

/** Reads what the next version is based on: destinations have the newest readable version, which need not be the newest one. */
export async function readBase(api: Api, secret: SecretRef, rights: Rights): Promise<Base> {
  const metadata = rights.readsMetadata ? await readMetadata(api, secret) : undefined;
  if (metadata === null || metadata?.current_version === 0) return noVersion;
  const readable = metadata && newestReadable(metadata);
  if (metadata && readable === undefined) return { ...noVersion, version: metadata.current_version };
  if (!rights.reads || !rights.updates) return withoutValues(api, secret, rights, metadata);
  const { version, values } = await readVersion(api, secret, readable);
  if (version === 0) return noVersion;
  return { version: metadata?.current_version ?? version, keys: Object.keys(values), values, replaces: true };
}

async function withoutValues(
  api: Api,
  secret: SecretRef,
  rights: Rights,
  metadata: SecretMetadata | undefined,
): Promise<Base> {
  const readable = metadata && newestReadable(metadata);
  const isPatchable = readable === metadata?.current_version;
  return {
    version: metadata?.current_version,
    keys: rights.readsKeys ? await readKeys(api, secret, readable) : undefined,
    values: undefined,
    replaces: rights.updates && !(rights.patches && isPatchable),
  };
}

const newestReadable = (metadata: SecretMetadata): number | undefined =>
  versionsOf(metadata, Date.now()).find(({ state }) => state === 'readable')?.number;
