import { destinationSubject, Fault, isAdministrativeNamespace } from '@secrets/domain';
import type { DestinationSettings } from '@secrets/sync-worker';
import { z } from 'zod';
import type { CloudASettings } from './settings.ts';

/**
 * Destinations that may use the worker's own identity if they have no credentials: those of the root and the
 * administrative namespace, or all.
 */
export const workerIdentity = z.enum(['administrative', 'all']).default('administrative');

/**
 * Returns the external ID with which a destination that has no credentials may use those of the worker
 * (docs/destinations/clouda-sm.md). Outside of the root and the administrative namespace, it names a role on behalf of
 * a tenant, so the external ID is that of the destination: no tenant can have the worker assume a role that trusts it
 * for another tenant. https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
 * @param isShared whether the operator lets destinations of all namespaces use the worker's credentials
 * @throws {Fault} `rejected`, if it may not
 */
export function workersExternalId(
  settings: CloudASettings,
  destination: DestinationSettings,
  isShared: boolean,
): string {
  if (isAdministrativeNamespace(destination.namespacePath)) return settings.external_id;
  if (!isShared)
    throw new Fault(
      'rejected',
      "the destination has no credentials, and the worker's own credentials are only for the root and the administrative namespace (CLOUDA_WORKER_IDENTITY)",
    );
  if (settings.role_arn === '') return settings.external_id;
  const externalId = destinationSubject(destination);
  if (!['', externalId].includes(settings.external_id))
    throw new Fault('rejected', `external_id: must be empty or ${externalId}`);
  return externalId;
}
