import { directories, type Environment } from '../directory/environments.ts';

/** Where the services of a cloud are. The SDKs are configured with these; requests may take a detour (`ProviderUrls`). */
export interface Cloud {
  /** Base URL of the directory. */
  authority: string;
  /** Base URL of the resource manager. Access tokens for it have this URL as audience. */
  resourceManager: string;
  /** Base URL of Graph. Access tokens for it have this URL as audience. */
  graph: string;
}

/** The operator's base URLs in place of the clouds' own. */
export interface ProviderUrls {
  authorityUrl?: string | undefined;
  resourceManagerUrl?: string | undefined;
  graphUrl?: string | undefined;
  /** Of the instance metadata. */
  metadataUrl?: string | undefined;
}

/**
 * https://learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure and
 * https://learn.microsoft.com/graph/deployments
 */
export const clouds: Readonly<Record<Environment, Cloud>> = {
  public: {
    authority: directories.public.authority,
    resourceManager: 'https://management.azure.com',
    graph: 'https://graph.microsoft.com',
  },
  china: {
    authority: directories.china.authority,
    resourceManager: 'https://management.chinacloudapi.cn',
    graph: 'https://microsoftgraph.chinacloudapi.cn',
  },
  usgovernment: {
    authority: directories.usgovernment.authority,
    resourceManager: 'https://management.usgovcloudapi.net',
    graph: 'https://graph.microsoft.us',
  },
};
