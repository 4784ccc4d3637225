import type { AssociationPlan } from './plan-association.ts';
import type { PlannedSecret } from './plan-secret.ts';
import { maxEntries } from './wanted-entries.ts';

/** Returns the response that shows a planned set (docs/conventions/sync-operation.md#check-and-plan). */
export const presentPlan = (
  { type, name, mount, secretName }: { type: string; name: string; mount: string; secretName: string },
  { accessor, isAssociated, isLookedAt, maxValueBytes, secrets, refusals }: AssociationPlan,
) => ({
  store_type: type,
  store_name: name,
  accessor,
  mount,
  secret_name: secretName,
  associated: isAssociated,
  accepted: refusals.length === 0 && secrets.every((secret) => secret.refusals.length === 0),
  problems: refusals,
  max_external_secrets: maxEntries,
  max_value_bytes: maxValueBytes,
  external_secrets: secrets.map((secret) => presentPlanned(secret, isLookedAt)),
});

/** Returns what is shown of a planned external secret. */
export const presentPlanned = (secret: PlannedSecret, isLookedAt: boolean) => ({
  ...presentSecret(secret),
  ...(isLookedAt && presentState(secret)),
});

const presentSecret = ({
  subKey,
  externalName,
  change,
  replaces,
  bytes,
  refusals,
  valueRefusal,
}: PlannedSecret) => ({
  sub_key: subKey,
  external_name: externalName,
  change,
  replaces: replaces ?? null,
  value_bytes: bytes ?? null,
  problems: valueRefusal === undefined ? refusals : [...refusals, valueRefusal],
});

const presentState = ({ inStore }: PlannedSecret) => ({
  in_store: inStore?.state ?? null,
  in_store_reason: inStore?.reason ?? null,
});
