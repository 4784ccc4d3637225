import type { CloudCSettings } from '@secrets/destinations';
import { labelsOf } from '@secrets/destinations';
import { hasCode, type OwnedSecret, type Owner, type ScopeMemory, tagsOf } from '@secrets/sync-worker';
import type { Logger } from '@secrets/telemetry';
import type { Secret } from '../api/schema.ts';
import type { SecretManagerApi } from '../api/secret-manager-api.ts';
import type { Remembered } from './remembered.ts';

/** Dependencies of a put or a removal. */
export interface Store {
  api: SecretManagerApi;
  settings: CloudCSettings;
  owner: Owner;
  /** Aborts the put or the removal. */
  signal: AbortSignal;
  log: Logger;
  scope: ScopeMemory;
}

/**
 * Returns the secret of this name. Returns undefined only if the provider confirms that there is none; every other
 * failure is thrown.
 */
export async function findSecret(store: Store, id: string): Promise<Secret | undefined> {
  try {
    const found = await store.api.get(id, store.signal);
    await requireProject(store, found);
    return found;
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/**
 * Whether the read that found the secret is older than what is remembered: it shows an earlier secret of the name. Only
 * the access to a version by its number is strongly consistent
 * (https://docs.cloud.google.com/secret-manager/docs/reference/consistency).
 */
export const isOutdated = ({ createTime }: Secret, known: Remembered | undefined): boolean =>
  known !== undefined && secondsOf(createTime) < secondsOf(known.createTime);

const secondsOf = (createTime: string): number => {
  const [seconds, nanos = '0'] = createTime.split('.');
  return Number(seconds) + Number(nanos) / 1e9;
};

/** An ID of a project is never given to another one, but its number is what every response contains. */
export async function requireProject({ scope, settings }: Store, { project }: Secret): Promise<void> {
  if (project === undefined) return;
  await scope.require(project, { label: `the project ${settings.project_id}`, kind: 'project' });
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
