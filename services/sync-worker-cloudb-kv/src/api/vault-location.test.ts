import { describe, expect, test } from '@jest/globals';
import { cloudBKv, settingsOf } from '@secrets/destinations';
import { locateVault } from './vault-location.ts';

const endpoint = 'http://sandbox:8300/cloudb';
const locate = (key_vault_uri: string, endpointUrl?: string, cloud: 'cloud' | 'china' = 'cloud') =>
  locateVault(settingsOf(cloudBKv, { key_vault_uri, cloud, tenant_id: 'x' }), endpointUrl);

describe('cloudB-kv 8: key_vault_uri', () => {
  test('on a host of the cloud is used as it is, with the audience of the cloud', () => {
    expect(locate('https://main.vault.azure.net')).toEqual({
      vaultUrl: 'https://main.vault.azure.net',
      detour: undefined,
      audience: 'https://vault.azure.net',
    });
    expect(locate('https://main.vault.azure.cn', undefined, 'china').audience).toBe('https://vault.azure.cn');
  });

  test("is sent to the operator's endpoint, which learns the vault's host", () => {
    const { detour } = locate('https://main.vault.azure.net', endpoint);
    expect(detour).toEqual({ baseUrl: endpoint, forwardsHost: true });
  });

  test("may be at the operator's endpoint itself, below any path", () => {
    for (const uri of ['http://sandbox:8300', 'http://sandbox:8300/cloudb', 'http://sandbox:8300/other'])
      expect(locate(uri, endpoint)).toEqual({
        vaultUrl: 'https://sandbox:8300',
        detour: { baseUrl: uri, forwardsHost: false },
        audience: undefined,
      });
  });

  test.each([
    ['http://sandbox:8300', undefined],
    ['http://sandbox:8301', endpoint],
    ['https://sandbox:8300', endpoint],
    ['http://other:8300', endpoint],
    ['http://127.0.0.1', endpoint],
    ['https://main.vault.azure.cn', endpoint],
    ['', endpoint],
  ])('elsewhere is rejected: %s with the endpoint %s', (uri, endpointUrl) => {
    expect(() => locate(uri, endpointUrl)).toThrow(/^key_vault_uri is neither .* CLOUDB_ENDPOINT_URL$/);
  });
});
