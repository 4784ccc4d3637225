import { replicaKeys } from '@secrets/destinations';
import type { Store } from './store.ts';

/** An attribute as a description shows it, and as the last put has set it; both are empty for the provider's own. */
export interface Present {
  shown: string | undefined;
  ours: string | undefined;
}

/** A description shows the provider's own key as its alias, or not at all. */
const isProviders = (shown = ''): boolean => shown === '' || /(?:^|:)alias\/aws\/secretsmanager$/.test(shown);

/**
 * Whether a description shows the key. A key has an ID and an alias, each also as part of an ARN; a description may show either
 * form of what was set.
 */
export const isKeyShown = (wanted: string, shown = ''): boolean =>
  !isProviders(shown) &&
  (wanted === shown ||
    [`/${wanted}`, `:${wanted}`].some((end) => shown.endsWith(end)) ||
    wanted.endsWith(`/${shown}`));

/**
 * Whether the attribute must be changed. A description may be older than the last put. If none is wanted, only one that the
 * last put has set is taken away.
 */
export const mustChange = (
  wanted: string,
  { shown, ours }: Present,
  isShown = (one: string, other: string | undefined) => one === other,
): boolean =>
  wanted === ''
    ? ours !== undefined && ours !== ''
    : !isShown(wanted, shown) || (ours !== undefined && ours !== wanted);

/**
 * Encrypts each replica with its key. Only the key of a replica can be changed, by a call in its region
 * (https://docs.aws.amazon.com/secretsmanager/latest/userguide/standalone-secret.html); its ARN differs from that of the
 * secret by the region only.
 */
export async function reconcileReplicaKeys(
  { api, settings, region: primary, signal }: Store,
  arn: string,
  present: Readonly<Record<string, Present>>,
): Promise<void> {
  for (const [region, key] of Object.entries(replicaKeys(settings))) {
    const shown = present[region];
    if (shown === undefined || !mustChange(key, shown, isKeyShown)) continue;
    await api.update(arn.replace(`:${primary}:`, `:${region}:`), { KmsKeyId: key }, signal, region);
  }
}
