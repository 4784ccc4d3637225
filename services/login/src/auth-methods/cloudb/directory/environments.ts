/** The provider's clouds. */
export const environments = ['public', 'china', 'usgovernment'] as const;
export type Environment = (typeof environments)[number];

/**
 * Each cloud's directory and the issuers of its v1 and v2 tokens, without the tenant.
 * https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud
 */
export const directories: Record<
  Environment,
  { authority: string; issuerV1: string; issuersV2: readonly string[] }
> = {
  public: {
    authority: 'https://login.microsoftonline.com',
    issuerV1: 'https://sts.windows.net',
    issuersV2: ['https://login.microsoftonline.com'],
  },
  china: {
    authority: 'https://login.partner.microsoftonline.cn',
    issuerV1: 'https://sts.chinacloudapi.cn',
    issuersV2: ['https://login.partner.microsoftonline.cn', 'https://login.chinacloudapi.cn'],
  },
  usgovernment: {
    authority: 'https://login.microsoftonline.us',
    issuerV1: 'https://sts.windows.net',
    issuersV2: ['https://login.microsoftonline.us'],
  },
};

/** The issuers of a tenant's v1 and v2 tokens. */
export function issuersOf(environment: Environment, tenantId: string): string[] {
  const { issuerV1, issuersV2 } = directories[environment];
  const tenant = tenantId.toLowerCase();
  return [`${issuerV1}/${tenant}/`, ...issuersV2.map((host) => `${host}/${tenant}/v2.0`)];
}

const tenantId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The ID of the tenant whose tokens have an issuer; undefined if none of the environment has it. */
export function tenantOfIssuer(environment: Environment, issuer: string): string | undefined {
  const id = tenantId.exec(issuer.toLowerCase())?.[0];
  return id !== undefined && issuersOf(environment, id).includes(issuer.toLowerCase()) ? id : undefined;
}
