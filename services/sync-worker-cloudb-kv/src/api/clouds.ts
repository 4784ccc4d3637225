import type { CloudBSettings } from '@secrets/destinations';

/** Endpoints that differ between the provider's clouds, as the host suffix of their vaults does. */
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
