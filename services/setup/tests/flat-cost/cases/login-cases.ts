import { randomUUID } from 'node:crypto';
import {
  type BatchToken,
  changeTag,
  readContentBoundBy,
  readStoredContent,
  readStoredTokens,
  replaceRowHash,
  tokenHash,
} from '@secrets/access';
import { readChanges } from '../../../../../libs/access/src/changes/read-changes.ts';
import { readTemplateValues } from '../../../../../libs/access/src/policies/store/read-template-values.ts';
import * as access from '../../../../../libs/access/src/read-access.ts';
import { deleteAuthMount } from '../../../../login/src/queries/auth-mounts.ts';
import * as entities from '../../../../login/src/queries/entities.ts';
import * as groups from '../../../../login/src/queries/groups.ts';
import { deleteNamespaceRow, serializeWrites } from '../../../../login/src/queries/namespaces.ts';
import { findPolicySize, missingPolicies } from '../../../../login/src/queries/policies.ts';
import { insertLoginTokens } from '../../../../login/src/queries/tokens/batched-login-tokens.ts';
import * as deletions from '../../../../login/src/queries/tokens/delete-tokens.ts';
import {
  findOwnerState,
  insertLoginToken,
  upsertOwner,
} from '../../../../login/src/queries/tokens/login-tokens.ts';
import {
  insertRootToken,
  insertToken,
  rootTokenWasCreated,
} from '../../../../login/src/queries/tokens/new-tokens.ts';
import { replaceRecoveryToken } from '../../../../login/src/queries/tokens/recovery-tokens.ts';
import {
  deleteOldChanges,
  recordChange,
  revokeOrphan,
  revokeToken,
  revoking,
} from '../../../../login/src/queries/tokens/revocations.ts';
import * as stored from '../../../../login/src/queries/tokens/stored-tokens.ts';
import * as roles from '../../../../login/src/queries/tokens/token-roles.ts';
import * as wrapped from '../../../../login/src/queries/wrapped-responses.ts';
import { mergedTokenRole } from '../../../../login/src/tokens/roles/role-settings.ts';
import { type Case, casesOf, seededId } from './cases.ts';

// Tokens and what their checks read. The texts of seeded tokens are their accessors.

const nilId = '00000000-0000-0000-0000-000000000000';
const mountId = seededId('auth mount1');
const oldMount = { id: seededId('old auth mount'), kind: 'auth mount' } as const;
const oldNamespace = { id: 'old namespace', kind: 'namespace' } as const;
const batchToken = (over: Partial<BatchToken>) =>
  ({
    namespace_id: 'root',
    policies: ['p1', 'p2'],
    parent_accessor: null,
    mount_id: null,
    ...over,
  }) as BatchToken;
const newToken = () => ({
  hash: tokenHash(randomUUID()),
  accessor: randomUUID(),
  parentAccessor: null,
  namespaceId: 'root',
  displayName: '',
  creationPath: '',
  policies: ['p1'],
  metadata: {},
  boundCidrs: [],
  renewable: true,
  lifetime: {
    ttlSeconds: 3_600,
    periodSeconds: 0,
    explicitMaxTtlSeconds: 0,
    expiresAt: new Date(Date.now() + 3_600_000),
    maxExpiresAt: null,
  },
  uses: null,
  rowHash: null,
});
const login = (alias: string, groups = ['group7', 'group9']) => ({
  mountId,
  alias,
  groups,
  issuedAt: 1_700_000_000,
  source: {},
});

const checkCases: Case[] = casesOf('gateway', {
  'checking a token of a mount': (db) => access.readServiceToken(db, tokenHash('ordinary7')),
  'checking a token with many siblings': (db) => access.readServiceToken(db, tokenHash('child7')),
  'checking a token of the 64th generation': (db) => access.readServiceToken(db, tokenHash('chain64')),
  'checking a token whose entity is in 200 groups': (db) =>
    access.readServiceToken(db, tokenHash('ordinary50000')),
  'checking a token of a disabled mount': (db) => access.readServiceToken(db, tokenHash('old7')),
  'checking a batch token': (db) =>
    access.readBatchToken(
      db,
      batchToken({ parent_accessor: 'chain64', mount_id: mountId, entity_id: seededId('entity30001') }),
    ),
  'reading what templates can name of an entity in 200 groups': (db) =>
    readTemplateValues(db, seededId('entity50000'), 'root'),
  'consuming a use': (db) => access.consumeUse(db, tokenHash('spent7')),
  'reading the policies of a token': (db) => access.readPolicySet(db, 'root', ['p1', 'p4999', 'absent']),
  'reading the newest changes': (db) => readChanges(db, '19000'),
  'reading a namespace': (db) => access.readNamespace(db, 'n7'),
  'finding the mount of a login': (db) => access.readLoginMount(db, '', 'cloudB7'),
});

const tokenCases: Case[] = casesOf('login', {
  'looking up a token': (db) => stored.findTokenByHash(db, tokenHash('child7')),
  'looking up an accessor': (db) => stored.findTokenByAccessor(db, 'chain64'),
  'listing accessors': (db) => stored.listAccessors(db, 'root', { after: 'old', limit: 101 }),
  'renewing a token': (db) =>
    stored.updateTokenExpiry(db, 'chain64', { expiresAt: new Date(), maxExpiresAt: null, keepsLater: true }),
  'adding up the policies of a token': (db) => findPolicySize(db, 'root', ['p1', 'p4999', 'absent']),
  'creating a token': (db) => insertToken(db, { ...newToken(), parentAccessor: 'ordinary1', entityId: null }),
  'creating the root token': (db) => insertRootToken(db, { ...newToken(), entityId: null }),
  'looking whether the root token was created': (db) => rootTokenWasCreated(db),
  'replacing the recovery token': async (db) => {
    await insertRootToken(db, { ...newToken(), entityId: null });
    for (const token of [newToken(), newToken()])
      await db.transaction((tx) => replaceRecoveryToken(tx, { ...token, entityId: null }));
  },
  'logging in': (db) => insertLoginToken(db, newToken(), login('principal50000')),
  'logging in, several at once': (db) =>
    insertLoginTokens(db, [
      { token: newToken(), identity: login('principal50000') },
      { token: newToken(), identity: login('principal50003') },
      { token: newToken(), identity: login('new') },
    ]),
  'logging in with other groups': (db) =>
    insertLoginToken(db, newToken(), login('principal50001', ['group1'])),
  'logging in without naming the groups': (db) =>
    insertLoginToken(db, newToken(), { ...login('principal50002'), groups: undefined }),
  'logging in for the first time without naming the groups': (db) =>
    upsertOwner(db, { ...login('new'), groups: undefined }, newToken()),
  'looking why an identity gets no token': (db) => findOwnerState(db, login('principal50000')),
  'looking why a new identity gets no token': (db) => findOwnerState(db, login('new')),
  'logging in for the first time': (db) => insertLoginToken(db, newToken(), login('new')),
  'logging in for a batch token': (db) => upsertOwner(db, login('principal50000'), newToken()),
  'logging in for a batch token for the first time': (db) => upsertOwner(db, login('new'), newToken()),
});

const rowCases: Case[] = casesOf(undefined, {
  'checking the rows of tokens': (db) => readStoredTokens(db, [], 100),
  'checking the rows of policies': (db) => readStoredContent(db, 'login.policies', ['root', 'p2000'], 100),
  'checking the rows of roles': (db) => readStoredContent(db, 'login.cloudb_roles', [mountId, 'role3'], 100),
  'finding roles of another row key': (db) =>
    readContentBoundBy(db, 'login.cloudb_roles', 'r1', [mountId, 'role3'], 10),
  'checking the rows of configurations': (db) =>
    readStoredContent(db, 'login.cloudb_configs', [mountId], 100),
  'finding configurations of another row key': (db) =>
    readContentBoundBy(db, 'login.cloudb_configs', 'r1', [mountId], 10),
  'finding token roles of another row key': (db) =>
    readContentBoundBy(db, 'login.token_roles', 'r1', ['root', 'role3'], 10),
  'binding a policy with another row key': async (db) => {
    const [policy] = await readContentBoundBy(db, 'login.policies', 'r1', ['root', 'p2000'], 1);
    await replaceRowHash(db, 'login.policies', policy!, 'r2:other');
  },
});

const role = mergedTokenRole(undefined, {});

const roleCases: Case[] = casesOf('login', {
  'finding a token role': (db) => roles.findTokenRole(db, 'root', 'role7'),
  'listing token roles': (db) => roles.listTokenRoleNames(db, 'root', { after: 'role', limit: 101 }),
  'creating a token role': (db) =>
    roles.upsertTokenRole(db, 'root', 'new', { settings: role, rowHash: 'r2:' }),
  'changing a token role': (db) =>
    roles.upsertTokenRole(db, 'root', 'role7', { settings: role, rowHash: 'r2:' }),
  'deleting a token role': (db) => roles.deleteTokenRole(db, 'root', 'role7'),
  'looking which policies do not exist': (db) => missingPolicies(db, 'root', ['p7', 'p8', 'none']),
});

const wrappedResponse = () => ({
  hash: tokenHash(randomUUID()),
  accessor: randomUUID(),
  namespaceId: 'root',
  sealed: Buffer.from('s'),
  wrappedAccessor: null,
  ttlSeconds: 60,
  creationPath: 'kv/data/a',
});

const wrappingCases: Case[] = casesOf('login', {
  'wrapping a response': (db) => wrapped.insertWrappedResponse(db, wrappedResponse()),
  'looking up a wrapped response': (db) => wrapped.findWrappedResponse(db, tokenHash('wrapped8')),
  'unwrapping a response': (db) => wrapped.takeWrappedResponse(db, tokenHash('wrapped8')),
  'deleting a wrapped response': (db) => wrapped.deleteWrappedResponse(db, '', 'wrapped8'),
  'deleting a page of expired responses': (db) => wrapped.deletePageOfWrappedResponses(db, 500),
});

const revocationCases: Case[] = casesOf('login', {
  'revoking a token with 20,000 children': (db) => revokeToken(db, 'ordinary1'),
  'revoking a token with 20,000 children alone': (db) => revokeOrphan(db, 'ordinary1'),
  'disabling a mount that issued 100,000 tokens': (db) => deleteAuthMount(db, mountId),
  'deleting a namespace': (db) => deleteNamespaceRow(db, 'n7'),
  'finding removed owners': (db) => deletions.listRemovedOwners(db),
  'forgetting a removed mount': (db) => deletions.forgetRemovedOwner(db, oldMount),
  'forgetting a removed namespace': (db) => deletions.forgetRemovedOwner(db, oldNamespace),
  'deleting a page of tokens of a disabled mount': (db) => deletions.deletePageOfTokens(db, oldMount, 500),
  'deleting a page of tokens of a deleted namespace': (db) =>
    deletions.deletePageOfTokens(db, oldNamespace, 500),
  'deleting a page of expired tokens': (db) => deletions.deletePageOfTokens(db, 'expired', 500),
  'deleting a page of used up tokens': (db) => deletions.deletePageOfTokens(db, 'used up', 500),
  'deleting a page of children': async (db) => {
    await revokeToken(db, 'ordinary1');
    await deletions.deletePageOfTokens(db, 'expired', 500);
  },
  'deleting a page of entities of a disabled mount': (db) =>
    deletions.deletePageOfEntities(db, oldMount, 500),
  'deleting a page of entities of a deleted namespace': (db) =>
    deletions.deletePageOfEntities(db, oldNamespace, 500),
  'recording a change that concerns everything': (db) => revoking(db, async () => undefined),
  'recording a change of a policy': (db) => recordChange(db, [changeTag.policy('root', 'p1')]),
  'deleting old changes': (db) => deleteOldChanges(db),
});

const first = { after: '', limit: 101 };
const groupId = seededId('group7');
const group = { name: 'new', policies: ['p1'], metadata: {} };
const groupAlias = { name: 'new', mountId, groupId };

const groupCases: Case[] = casesOf('login', {
  'finding a group by its ID': (db) => groups.findGroups(db, 'root', { id: groupId }),
  'finding a group by its name': (db) => groups.findGroups(db, 'root', { name: 'group7' }),
  'locking a group': (db) => groups.lockGroups(db, 'root', { name: 'group7' }),
  'finding names of groups in several letter cases': (db) =>
    groups.ambiguousNames(db, 'groups', 'root', ['group7', 'group8']),
  'locking a namespace': (db) => serializeWrites(db, 'n7'),
  'listing groups by ID': (db) => groups.listGroups(db, 'root', 'id', { ...first, after: nilId }),
  'listing groups by name': (db) => groups.listGroups(db, 'root', 'name', first),
  'creating a group': (db) => groups.insertGroup(db, 'root', group),
  'changing a group': (db) => groups.updateGroup(db, groupId, group),
  'deleting a group': (db) => groups.deleteGroup(db, groupId),
  'finding the alias of a group': (db) => groups.findGroupAlias(db, 'root', seededId('group alias7')),
  'finding the alias of a group by its name': (db) => groups.findGroupAliasOf(db, mountId, 'group7'),
  'listing aliases of groups': (db) => groups.listGroupAliases(db, 'root', { ...first, after: nilId }),
  'creating the alias of a group': async (db) =>
    groups.insertGroupAlias(db, { ...groupAlias, groupId: await groups.insertGroup(db, 'root', group) }),
  'changing the alias of a group': (db) => groups.updateGroupAlias(db, seededId('group alias7'), groupAlias),
  'deleting the alias of a group': (db) => groups.deleteGroupAlias(db, seededId('group alias7')),
});

const entityId = seededId('entity50000');
const entity = { name: 'new', policies: ['p1'], metadata: {}, disabled: true };

const entityCases: Case[] = casesOf('login', {
  'finding an entity by its ID': (db) => entities.findEntities(db, 'root', { id: seededId('entity60000') }),
  'locking an entity': (db) => entities.lockEntities(db, 'root', { id: seededId('entity60000') }),
  'finding an entity by its name': async (db) => {
    await entities.updateEntity(db, seededId('entity60000'), entity);
    await entities.findEntities(db, 'root', { name: 'new' });
  },
  'finding the entity of an alias': (db) => entities.findEntityIdOfAlias(db, mountId, 'principal60000'),
  'listing entities by name': async (db) => {
    await entities.updateEntity(db, seededId('entity60000'), entity);
    await entities.listEntitiesByName(db, 'root', { after: undefined, limit: 101 });
  },
  'listing entities by generated name': (db) =>
    entities.listEntitiesByName(db, 'root', { after: { id: seededId('entity60000') }, limit: 101 }),
  'listing entities with an alias': (db) =>
    entities.listAliasedEntities(db, 'root', { ...first, after: nilId }),
  'creating an entity with an alias': async (db) => {
    const id = await entities.insertEntity(db, 'root', entity);
    await entities.insertEntityAlias(db, id!, { mountId, name: 'new', customMetadata: {} });
  },
  'finding names of entities in several letter cases': async (db) => {
    await entities.updateEntity(db, seededId('entity60000'), entity);
    await groups.ambiguousNames(db, 'entities', 'root', ['new']);
  },
  'changing the alias of an entity': (db) =>
    entities.updateEntityAlias(db, entityId, { name: 'PRINCIPAL50000', customMetadata: {} }),
  'finding the entities of an identity': (db) => entities.entitiesOfIdentity(db, entityId),
  'listing aliases in another letter case': (db) => entities.listAliasesInOtherCase(db, 'root', 20),
  'deleting the alias of an entity': (db) => entities.deleteEntityAlias(db, entityId),
  'listing entities': (db) => entities.listEntities(db, 'root', { ...first, after: nilId }),
  'changing an entity': (db) => entities.updateEntity(db, entityId, entity),
  'deleting an entity': (db) => entities.deleteEntity(db, entityId),
});

/** The statements on tokens and identities, of login and of the gateway. */
export const loginCases: Case[] = [
  ...checkCases,
  ...tokenCases,
  ...rowCases,
  ...roleCases,
  ...wrappingCases,
  ...revocationCases,
  ...groupCases,
  ...entityCases,
];
