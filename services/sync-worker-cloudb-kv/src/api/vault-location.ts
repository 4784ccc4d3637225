import type { CloudBSettings } from '@secrets/destinations';
import { isCloudVault } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { clouds } from './clouds.ts';
import type { OriginOverride } from './guarded-http-client.ts';

/** Where a vault is, and what a token for it must be for. */
export interface VaultLocation {
  /** The URL that the SDK is given; always https. */
  vaultUrl: string;
  detour: OriginOverride | undefined;
  /** The audience that the vault's challenge must name; undefined for the operator's endpoint, which may be any emulator. */
  audience: string | undefined;
}

/**
 * Returns where to find the destination's vault. A vault of the cloud is at its own host or, if the operator has
 * configured an endpoint, there. Any other URI must be at that endpoint.
 * @throws {Fault} `rejected`
 */
export function locateVault(
  { key_vault_uri: uri, cloud }: CloudBSettings,
  endpointUrl: string | undefined,
): VaultLocation {
  if (isCloudVault(uri, cloud)) {
    return endpointUrl === undefined
      ? { vaultUrl: uri, detour: undefined, audience: clouds[cloud].audience }
      : { vaultUrl: uri, detour: { baseUrl: endpointUrl, forwardsHost: true }, audience: undefined };
  }
  if (endpointUrl !== undefined && originOf(uri) === originOf(endpointUrl)) {
    const vaultUrl = `https://${new URL(uri).host}`;
    return { vaultUrl, detour: { baseUrl: uri, forwardsHost: false }, audience: undefined };
  }
  throw new Fault(
    'rejected',
    'key_vault_uri is neither a vault of the configured cloud nor at the endpoint that the operator has set with CLOUDB_ENDPOINT_URL',
  );
}

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined);
