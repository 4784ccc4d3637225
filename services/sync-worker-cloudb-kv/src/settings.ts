import { identityTokenSeconds } from '@secrets/domain';
import { z } from 'zod';

const Settings = z.object({
  key_vault_uri: z.string(),
  tenant_id: z.string(),
  client_id: z.string().default(''),
  cloud: z.enum(['cloud', 'china', 'usgovernment']).default('cloud'),
  identity_token_audience: z.string().default(''),
  identity_token_ttl: z.number().default(identityTokenSeconds.usual),
  custom_tags: z.record(z.string(), z.string()).default({}),
});

export type CloudBSettings = z.infer<typeof Settings>;

/** Parses a destination's settings. */
export const parseSettings = (settings: Record<string, unknown>): CloudBSettings => Settings.parse(settings);

/** What differs between the provider's clouds, together with the host suffix of their vaults. */
interface Cloud {
  /** The directory that issues tokens. */
  authority: string;
  /** What a token must be for, so that the vaults accept it. */
  audience: string;
}

/** https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud */
export const clouds: Readonly<Record<CloudBSettings['cloud'], Cloud>> = {
  cloud: { authority: 'https://login.microsoftonline.com', audience: 'https://vault.azure.net' },
  china: { authority: 'https://login.partner.microsoftonline.cn', audience: 'https://vault.azure.cn' },
  usgovernment: {
    authority: 'https://login.microsoftonline.us',
    audience: 'https://vault.usgovcloudapi.net',
  },
};
