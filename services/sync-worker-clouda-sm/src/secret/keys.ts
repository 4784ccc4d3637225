import { replicaKeys } from '@secrets/destinations';
import type { Store } from './store.ts';

/** A key as a description shows it, and as the last put has set it; both are empty for the provider's own key. */
export interface PresentKey {
  shown: string | undefined;
  ours: string | undefined;
}

/** A description shows the provider's own key as its alias, or not at all. */
const isProviders = (shown = ''): boolean => shown === '' || /(?:^|:)alias\/aws\/secretsmanager$/.test(shown);

/** A key has an ID and an alias, each also as part of an ARN; a description may show either form of what was set. */
const isSameKey = (wanted: string, shown = ''): boolean =>
  wanted === shown ||
  [`/${wanted}`, `:${wanted}`].some((end) => shown.endsWith(end)) ||
  wanted.endsWith(`/${shown}`);

/**
 * Whether the key must be changed. A description may be older than the last put. Without a wanted key, only one that the last
 * put has set is taken away.
 */
const mustChange = (wanted: string, { shown, ours }: PresentKey): boolean =>
  wanted === ''
    ? ours !== undefined && ours !== ''
    : isProviders(shown) || !isSameKey(wanted, shown) || (ours !== undefined && ours !== wanted);

/**
 * Encrypts the secret with the configured key. An empty key is the key that the provider manages
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_UpdateSecret.html).
 */
export async function reconcileKey(
  { api, settings, signal }: Store,
  arn: string,
  present: PresentKey,
): Promise<void> {
  if (mustChange(settings.kms_key_id, present))
    await api.changeKey(arn, { key: settings.kms_key_id }, signal);
}

/**
 * Encrypts each replica with its key. Only the key of a replica can be changed, by a call in its region
 * (https://docs.aws.amazon.com/secretsmanager/latest/userguide/standalone-secret.html); its ARN differs from that of the
 * secret by the region only.
 */
export async function reconcileReplicaKeys(
  { api, settings, region: primary, signal }: Store,
  arn: string,
  present: Readonly<Record<string, PresentKey>>,
): Promise<void> {
  for (const [region, key] of Object.entries(replicaKeys(settings))) {
    const shown = present[region];
    if (shown === undefined || !mustChange(key, shown)) continue;
    await api.changeKey(arn.replace(`:${primary}:`, `:${region}:`), { key, region }, signal);
  }
}
