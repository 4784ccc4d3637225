// Makes calls of hashi-vault-js as its users make them.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import Vault from 'hashi-vault-js';

const { VAULT_ADDR, VAULT_TOKEN: token, MOUNT, POLICY } = process.env;
const vault = new Vault({ baseUrl: `${VAULT_ADDR}/v1`, rootPath: MOUNT, timeout: 30_000 });
const status = (code) => (error) => error.isVaultError && error.response.status === code;

equal((await vault.sealStatus()).initialized, true);

await vault.updateKVEngineConfig(token, { max_versions: 5, cas_required: true });
equal((await vault.readKVEngineConfig(token)).max_versions, 5);
equal((await vault.createKVSecret(token, 'shop/db', { user: 'a' })).version, 1);
await rejects(vault.createKVSecret(token, 'shop/db', { user: 'b' }), status(400));
equal((await vault.updateKVSecret(token, 'shop/db', { user: 'b' }, 1)).version, 2);
deepEqual((await vault.readKVSecret(token, 'shop/db')).data, { user: 'b' });
deepEqual((await vault.readKVSecret(token, 'shop/db', 1)).data, { user: 'a' });
deepEqual((await vault.listKVSecrets(token)).keys, ['shop/']);
deepEqual((await vault.listKVSecrets(token, 'shop')).keys, ['db']);

await vault.deleteVersionsKVSecret(token, 'shop/db', [1]);
await rejects(vault.readKVSecret(token, 'shop/db', 1), status(404));
await vault.undeleteVersionsKVSecret(token, 'shop/db', [1]);
deepEqual((await vault.readKVSecret(token, 'shop/db', 1)).data, { user: 'a' });
await vault.destroyVersionsKVSecret(token, 'shop/db', [1]);
await vault.updateKVSecretMeta(token, 'shop/db', { max_versions: 3, custom_metadata: { team: 'shop' } });
const metadata = await vault.readKVSecretMeta(token, 'shop/db');
deepEqual([metadata.custom_metadata, metadata.versions[1].destroyed], [{ team: 'shop' }, true]);
await vault.deleteLatestVerKVSecret(token, 'shop/db');
await vault.eliminateKVSecret(token, 'shop/db');
await rejects(vault.readKVSecret(token, 'shop/db'), status(404));

const { client_token: limited } = await vault.createToken(token, { policies: [POLICY], ttl: '1h' });
const own = await vault.lookupSelfToken(limited);
deepEqual(own.policies, ['default', POLICY]);
equal((await vault.lookupAccessor(token, own.accessor)).display_name, own.display_name);
const path = `${MOUNT}/data/a`;
deepEqual((await vault.sysCapabilitiesSelf(limited, [path]))[path], ['read']);
await rejects(vault.createKVSecret(limited, 'a', { n: 1 }), status(403));
await vault.renewSelfToken(limited, '2h');
await vault.revokeAccessor(token, own.accessor);
await rejects(vault.lookupSelfToken(limited), status(403));
