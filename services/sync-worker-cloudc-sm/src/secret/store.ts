import { labelsOf } from '@secrets/destinations';
import { hasCode, type OwnedSecret, type Owner, tagsOf } from '@secrets/sync-worker';
import type { Logger } from '@secrets/telemetry';
import type { Secret } from '../api/schema.ts';
import type { SecretManagerApi } from '../api/secret-manager-api.ts';
import type { CloudCSettings } from '../settings.ts';
import type { Remembered } from './remembered.ts';

/** A connected destination: what put and remove work with. */
export interface Store {
  api: SecretManagerApi;
  settings: CloudCSettings;
  owner: Owner;
  log: Logger;
}

/**
 * Returns the secret of this name. Returns undefined only if the provider confirms that there is none; every other failure is thrown.
 */
export async function findSecret(
  { api }: Store,
  id: string,
  signal: AbortSignal,
): Promise<Secret | undefined> {
  try {
    return await api.get(id, signal);
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** All labels of the destination's secrets: its custom tags and the built-in ones, as valid labels. */
export const wantedLabels = ({ settings, owner }: Store): Record<string, string> =>
  labelsOf(tagsOf(settings.custom_tags, owner));

/** Built-in tags are valid labels, so they decide about the ownership as they are. */
export const owned = (
  name: string,
  { labels, createTime }: Secret,
  known: Remembered | undefined,
): OwnedSecret => ({
  name,
  tags: labels,
  isRemembered: createTime === known?.createTime,
});
