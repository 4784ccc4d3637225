import type { Sealed } from '@secrets/seal';

/** A token that was just issued or renewed. */
export interface IssuedToken {
  /** Null where the token itself is not known, as at a renewal. */
  token: Sealed<string> | null;
  accessor: string | null;
  policies: readonly string[];
  metadata: Record<string, string>;
  leaseSeconds: number;
  renewable: boolean;
  entityId: string | null;
  type: 'service' | 'batch';
  orphan: boolean;
  uses: number | null;
}

/** The `auth` object of a response (docs/conventions.md#25-auth-object): the only place where a token leaves. */
export const presentAuth = (issued: IssuedToken): Record<string, unknown> => ({
  client_token: issued.token?.reveal() ?? '',
  accessor: issued.accessor ?? '',
  policies: issued.policies,
  token_policies: issued.policies,
  metadata: issued.metadata,
  lease_duration: issued.leaseSeconds,
  renewable: issued.renewable,
  entity_id: issued.entityId ?? '',
  token_type: issued.type,
  orphan: issued.orphan,
  num_uses: issued.uses ?? 0,
});
