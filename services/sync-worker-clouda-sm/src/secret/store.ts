import { hasCode, type Owner } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import type { SecretsManagerApi } from '../api/secrets-manager-api.ts';
import type { CloudASettings } from '../settings.ts';
import type { Account } from './account.ts';

/** Dependencies of a put or a removal. */
export interface Store {
  api: SecretsManagerApi;
  account: Account;
  settings: CloudASettings;
  /** That of the destination, or of the worker. */
  region: string;
  owner: Owner;
  /** Aborts the put or the removal. */
  signal: AbortSignal;
}

/**
 * Returns the secret with this name or ARN, also if it is scheduled for deletion. Returns undefined only if the provider
 * confirms that there is none; every other failure is thrown.
 */
export async function findSecret(
  { api, account, signal }: Store,
  id: string,
): Promise<Described | undefined> {
  try {
    const found = await api.describe(id, signal);
    await account.requireArn(found.ARN);
    return found;
  } catch (error) {
    if (hasCode(error, 'ResourceNotFoundException')) return undefined;
    throw error;
  }
}

/** The tags of a described secret by their keys. */
export const tagsIn = ({ Tags }: Described): Record<string, string> =>
  Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
