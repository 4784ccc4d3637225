import { destinationSubject, Fault, isAdministrativeNamespace } from '@secrets/domain';
import type { DestinationSettings } from '@secrets/sync-worker';
import { z } from 'zod';
import type { CloudASettings } from './settings.ts';

/** Which destinations without credentials may use the worker's: those of the root and the administrative namespace, or all. */
export const workerIdentity = z.enum(['administrative', 'all']).default('administrative');

/**
 * The settings with which a destination that has no credentials may use those of the worker (docs/conventions.md#53-clouda-sm). Outside of
 * the root and the administrative namespace, it names a role on behalf of a tenant, so the external ID is that of the destination: no
 * tenant can have the worker assume a role that trusts it for another tenant.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
 * @param isShared whether the operator lets destinations of all namespaces use the worker's credentials
 * @throws {Fault} `rejected`, if it may not
 */
export function withWorkerIdentity(
  settings: CloudASettings,
  destination: DestinationSettings,
  isShared: boolean,
): CloudASettings {
  if (isAdministrativeNamespace(destination.namespacePath)) return settings;
  if (!isShared)
    throw new Fault(
      'rejected',
      "the destination has no credentials, and the worker's own credentials are only for the root and the administrative namespace (CLOUDA_WORKER_IDENTITY)",
    );
  if (settings.role_arn === '') return settings;
  const external_id = destinationSubject(destination);
  if (!['', external_id].includes(settings.external_id))
    throw new Fault('rejected', `external_id: must be empty or ${external_id}`);
  return { ...settings, external_id };
}
