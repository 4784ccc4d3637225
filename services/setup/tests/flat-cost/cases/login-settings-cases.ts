import { rowGuard } from '@secrets/access';
import { listCheckScopes } from '../../../../login/src/auth-methods/cloudb/queries/check-scopes.ts';
import * as configs from '../../../../login/src/auth-methods/cloudb/queries/configs.ts';
import { forgetPasswords } from '../../../../login/src/auth-methods/cloudb/queries/left-passwords.ts';
import { cloudBTables } from '../../../../login/src/auth-methods/cloudb/queries/login-target.ts';
import * as rotations from '../../../../login/src/auth-methods/cloudb/queries/rotations.ts';
import * as jwtConfigs from '../../../../login/src/auth-methods/jwt/queries/configs.ts';
import * as usedJwts from '../../../../login/src/auth-methods/jwt/queries/used-jwts.ts';
import * as kubernetesConfigs from '../../../../login/src/auth-methods/kubernetes/queries/configs.ts';
import * as roles from '../../../../login/src/auth-methods/roles/queries/roles.ts';
import * as targets from '../../../../login/src/auth-methods/targets/queries/stored-target.ts';
import * as mounts from '../../../../login/src/queries/auth-mounts.ts';
import * as issuers from '../../../../login/src/queries/identity-issuer.ts';
import * as keys from '../../../../login/src/queries/identity-keys.ts';
import * as namespaces from '../../../../login/src/queries/namespaces.ts';
import * as policies from '../../../../login/src/queries/policies.ts';
import { type Case, casesOf, seededId } from './cases.ts';

// What operators configure: mounts, namespaces, policies, roles, and the secrets and keys that are rotated.

const nilId = '00000000-0000-0000-0000-000000000000';
const mountId = seededId('auth mount1');
const first = { after: '', limit: 101 };
const limits = { defaultLeaseSeconds: 0, maxLeaseSeconds: 60 };
const settings = { description: '', attributes: {}, ...limits };
const mount = { path: 'new/mount', type: 'cloudB', namedType: null, accessor: 'new', ...settings };

const mountCases: Case[] = casesOf('login', {
  'finding a mount': (db) => mounts.findAuthMount(db, 'root', 'cloudB7'),
  'finding a mount by its accessor': (db) => mounts.findAuthMountByAccessor(db, 'root', 'auth_cloudB_7'),
  'listing mounts': (db) => mounts.listAuthMountRows(db, 'root', first),
  'looking for a mount at, above or below a path': (db) =>
    mounts.findOverlappingPath(db, 'root', 'cloudB7/west/1'),
  'looking for a mount where there is none': (db) => mounts.findOverlappingPath(db, 'root', 'cloudB'),
  'enabling a mount': (db) => mounts.insertAuthMount(db, 'root', mount),
  'changing the settings of a mount': (db) => mounts.updateAuthMount(db, mountId, settings),
  'locking a mount': (db) => mounts.lockAuthMount(db, mountId),
});

const namespaceCases: Case[] = casesOf('login', {
  'finding a namespace': (db) => namespaces.findNamespace(db, 'n7'),
  'listing namespaces below the root': (db) => namespaces.listChildNamespaces(db, '', first),
  'listing the last of many namespaces below one': (db) =>
    namespaces.listChildNamespaces(db, 'n1', { ...first, after: 'team999' }),
  'keeping the namespace above': (db) => namespaces.lockParentNamespace(db, 'n7'),
  'creating a namespace': (db) =>
    namespaces.insertNamespace(db, { id: 'new', path: 'n7/new', customMetadata: {} }),
  'changing the metadata of a namespace': (db) => namespaces.updateNamespaceMetadata(db, 'n7', {}),
  'locking a namespace before it is deleted': (db) => namespaces.lockNamespace(db, 'n7'),
  'looking what an empty namespace contains': (db) =>
    namespaces.findNamespaceContent(db, { id: 'n7', path: 'n7' }),
  'looking what a full namespace contains': (db) =>
    namespaces.findNamespaceContent(db, { id: 'root', path: '' }),
});

const policy = { source: '', rules: { paths: [] }, rowHash: 'r2:' };

const policyCases: Case[] = casesOf('login', {
  'finding a policy': (db) => policies.findPolicySource(db, 'root', 'p7'),
  'listing policies': (db) => policies.listPolicyNames(db, 'root', first),
  'creating a policy': (db) => policies.upsertPolicy(db, 'root', 'new', policy),
  'changing a policy': (db) => policies.upsertPolicy(db, 'root', 'p7', policy),
  'deleting a policy': (db) => policies.deletePolicyRow(db, 'root', 'p7'),
});

const role = { settings: {}, rowHash: 'r2:' };
const rows = rowGuard(undefined);

const methodCases: Case[] = casesOf('login', {
  'finding what a login depends on': (db) =>
    targets.findStoredTarget({ db, rows }, cloudBTables, 'root', 'cloudB1', 'role7'),
  'finding what a renewal depends on': (db) =>
    targets.findStoredSettings({ db, rows }, cloudBTables, mountId, 'role7'),
  'finding a role': (db) => roles.findRole(db, 'login.cloudb_roles', mountId, 'role7'),
  'listing roles': (db) =>
    roles.listRoleNames(db, 'login.cloudb_roles', mountId, { ...first, after: 'role3' }),
  'creating a role': (db) => roles.upsertRole(db, 'login.cloudb_roles', mountId, { name: 'new', ...role }),
  'changing a role': (db) => roles.upsertRole(db, 'login.cloudb_roles', mountId, { name: 'role7', ...role }),
  'deleting a role': (db) => roles.deleteRoleRow(db, 'login.cloudb_roles', mountId, 'role7'),
  'looking where roles bind logins': (db) => listCheckScopes(db, mountId),
  'finding a configuration': (db) => configs.findConfig({ db, rows }, mountId),
  'finding the credentials of a mount': (db) => configs.findCredentials({ db, rows }, mountId),
  'looking for an entered secret of an application': (db) =>
    configs.isEnteredElsewhere(db, mountId, ['application1', '']),
  'changing a configuration': (db) =>
    configs.upsertConfig(db, mountId, role, { client_secret: Buffer.from('s') }),
  'deleting a configuration': (db) => configs.deleteConfigRow(db, mountId),
});

const jwtTables = { type: 'cloudB', configs: 'login.jwt_configs', roles: 'login.jwt_roles' } as const;

const jwtCases: Case[] = casesOf('login', {
  'finding what a login with a JWT depends on, by its role': (db) =>
    targets.findStoredTarget({ db, rows }, jwtTables, 'root', 'cloudB1', 'role7'),
  'finding what a login with a JWT depends on, by the default role': (db) =>
    targets.findStoredTarget({ db, rows }, jwtTables, 'root', 'cloudB1', ''),
  'finding what a renewal of such a login depends on': (db) =>
    targets.findStoredSettings({ db, rows }, jwtTables, mountId, 'role7'),
  'finding a configuration of jwt': (db) => jwtConfigs.findJwtConfig(db, mountId),
  'changing a configuration of jwt': (db) =>
    jwtConfigs.upsertJwtConfig(db, mountId, { ...role, sealedSecret: Buffer.from('x') }),
  'finding a role of jwt': (db) => roles.findRole(db, 'login.jwt_roles', mountId, 'role7'),
  'recording that a JWT was used': (db) =>
    usedJwts.recordUse(db, mountId, Buffer.from('new'), new Date(Date.now() + 60_000)),
  'asking whether a JWT was used': (db) => usedJwts.wasUsed(db, mountId, Buffer.from('new')),
  'deleting records of used JWTs': (db) => usedJwts.deletePageOfUsedJwts(db, 10),
});

const kubernetesTables = {
  type: 'cloudB',
  configs: 'login.kubernetes_configs',
  roles: 'login.kubernetes_roles',
} as const;

const kubernetesCases: Case[] = casesOf('login', {
  'finding what a login of a service account depends on': (db) =>
    targets.findStoredTarget({ db, rows }, kubernetesTables, 'root', 'cloudB1', 'role7'),
  'finding what a renewal of a login of a service account depends on': (db) =>
    targets.findStoredSettings({ db, rows }, kubernetesTables, mountId, 'role7'),
  'finding a configuration of kubernetes': (db) => kubernetesConfigs.findKubernetesConfig(db, mountId),
  'changing a configuration of kubernetes': (db) =>
    kubernetesConfigs.upsertKubernetesConfig(db, mountId, {
      ...role,
      sealedReviewer: Buffer.from('s'),
    }),
  'finding a role of kubernetes': (db) => roles.findRole(db, 'login.kubernetes_roles', mountId, 'role7'),
});

const lease = { mountId, fence: 0 };
const pending = { attemptId: nilId, keyId: 'new', expiresAt: new Date(), sealedSecret: Buffer.from('s') };
const released = { failures: 1, scheduledAt: null, lookAgainSeconds: 60 };

const rotationCases: Case[] = casesOf('login', {
  'looking when a secret expires': (db) => rotations.findSecretExpiry(db, mountId),
  'listing rotations that are due': (db) => rotations.listDueRotations(db, 10),
  'asking whether rotations are held': (db) => rotations.isHeld(db),
  'holding the lease of a rotation': async (db) => {
    const held = await rotations.takeLease(db, mountId);
    await rotations.renewLease(db, held!);
    await rotations.releaseLease(db, held!, released);
  },
  'cleaning up after attempts': async (db) => {
    await rotations.insertAttempt(db, lease, nilId);
    await rotations.listAttempts(db, mountId);
    await rotations.deleteAttempt(db, nilId);
    await rotations.deleteOldAttempts(db, mountId);
    await rotations.forgetRemoved(db, lease, 'discarded1');
  },
  'promoting a pending password': async (db) => {
    await rotations.insertAttempt(db, lease, nilId);
    await rotations.storePending(db, lease, { ...pending, replacedKeyId: null });
    await rotations.promotePending(db, lease, { ...pending, retiredKeyId: 'old' });
  },
  'giving up a pending password': async (db) => {
    await rotations.insertAttempt(db, lease, nilId);
    await rotations.storePending(db, lease, { ...pending, replacedKeyId: null });
    await rotations.discardPending(db, lease);
  },
  'recording a secret': async (db) => {
    await rotations.recordSecret(db, mountId, true);
    await rotations.setSchedule(db, mountId, new Date());
  },
  'forgetting the passwords of an application': (db) => forgetPasswords(db, mountId),
  'forgetting a secret': (db) => rotations.deleteRotation(db, mountId),
});

const issuer = { issuer: 'https://new', rotationSeconds: 3_600, verificationSeconds: 86_400 };
const key = { id: 'new', publicJwk: {}, sealedPrivateKey: Buffer.from('s') };

const issuerCases: Case[] = casesOf('login', {
  'configuring the issuer': async (db) => {
    await issuers.lockIssuer(db);
    await issuers.insertIssuer(db, issuer);
    await issuers.updateIssuer(db, issuer);
    await issuers.findIssuer(db);
    await issuers.deleteIssuer(db);
  },
  'rotating the keys of the issuer': async (db) => {
    await keys.findKeySeconds(db, 'next');
    await keys.promoteNextKey(db, 86_400);
    await keys.insertNextKey(db, key);
    await keys.deleteExpiredKeys(db);
  },
  'finding the key that signs': (db) => keys.findSigningKey(db),
  'listing public keys': (db) => keys.listPublicKeys(db),
});

/** The statements of login on what operators configure. */
export const loginSettingsCases: Case[] = [
  ...mountCases,
  ...namespaceCases,
  ...policyCases,
  ...methodCases,
  ...jwtCases,
  ...kubernetesCases,
  ...rotationCases,
  ...issuerCases,
];
