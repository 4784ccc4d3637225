import { hasCode, type Owner } from '@secrets/sync-worker';
import type { Described } from '../api/schema.ts';
import type { SecretsManagerApi } from '../api/secrets-manager-api.ts';
import type { CloudASettings } from '../settings.ts';

/** A connected destination: what put and remove work with. */
export interface Store {
  api: SecretsManagerApi;
  settings: CloudASettings;
  owner: Owner;
}

/**
 * Returns the secret with this name or ARN, also if it is scheduled for deletion. Returns undefined only if the provider
 * confirms that there is none; every other failure is thrown.
 */
export async function findSecret(
  { api }: Store,
  id: string,
  signal: AbortSignal,
): Promise<Described | undefined> {
  try {
    return await api.describe(id, signal);
  } catch (error) {
    if (hasCode(error, 'ResourceNotFoundException')) return undefined;
    throw error;
  }
}

/** The tags of a described secret by their keys. */
export const tagsIn = ({ Tags }: Described): Record<string, string> =>
  Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
