import { fetchDocument } from '../../verification/http/bounded-fetch.ts';
import { KeyCache } from '../../verification/keys/key-cache.ts';
import { type DirectoryTenant, discoverKeys } from './discovery.ts';
import { keysOfTenant } from './keys-of-tenant.ts';

/** The signing keys of one tenant. */
export class TenantKeys extends KeyCache {
  constructor(tenant: DirectoryTenant, clock?: () => number) {
    super(
      {
        locate: () => discoverKeys(tenant),
        fetch: async (url) => keysOfTenant(await fetchDocument(url), tenant),
      },
      clock,
    );
  }
}
