import { randomUUID } from 'node:crypto';
import { currentIdentity } from '@secrets/access';
import { beginningsOf } from '@secrets/domain';
import { insertEntriesOf, namesTaken } from '@secrets/sync-entries';
import * as matching from '../../../../secrets/src/queries/matching.ts';
import { upsertMetadata } from '../../../../secrets/src/queries/metadata.ts';
import { insertVersion } from '../../../../secrets/src/queries/versions/insert-version.ts';
import * as watch from '../../../../secrets/src/queries/watch.ts';
import {
  insertAssociations,
  lockAssociationsByName,
} from '../../../../sync-control/src/queries/associations/associations.ts';
import { readRuleHealth } from '../../../../sync-control/src/queries/rules/rule-health.ts';
import * as holds from '../../../../sync-control/src/queries/rules/rule-holds.ts';
import * as plans from '../../../../sync-control/src/queries/rules/rule-plans.ts';
import * as refusals from '../../../../sync-control/src/queries/rules/rule-refusals.ts';
import * as runs from '../../../../sync-control/src/queries/rules/rule-runs.ts';
import * as rules from '../../../../sync-control/src/queries/rules/rules.ts';
import type { CaseDb } from '../measured-db.ts';
import { type Case, casesOf, column, destinations, seededId } from './cases.ts';

/** The rule with 50,000 holds. */
const id = seededId('rule1');
const rule = { id, version: 1, runId: seededId('run'), naming: {}, destinationId: destinations.busy };
const mount = { id: seededId('mount'), namespaceId: 'root', path: 'kv' };
const path = 'team7/app7';
const secretId = seededId('secret7');

const heldBy = (db: CaseDb, limit: number) =>
  column(db, 'select association_id as value from sync.rule_holds where rule_id = $1 order by 1 limit $2', [
    id,
    limit,
  ]);

const written = {
  id: randomUUID(),
  mountId: mount.id,
  mount: 'kv',
  path: 'a/*',
  beginning: 'a',
  exclude: [],
  metadataMatch: {},
  naming: {},
  sealedOwner: Buffer.from('x'),
};

const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
const hundredPaths = hundred.map((n) => `team${n % 100}/app${n}`);
const entryOf = (name: string) => ({ subKey: '', externalName: name, collisionKey: name });

const entity = {
  accessor: null,
  policies: [],
  displayName: '',
  namespace: { id: 'root', path: '' },
  tokenNamespace: { id: 'root', path: '' },
};

const controlCases: Case[] = casesOf('sync-control', {
  'reading a rule': async (db) => {
    await rules.findRule(db, destinations.busy, 'rule1');
    await rules.listLastingRules(db, destinations.busy, 10);
    await rules.listRuleNames(db, destinations.busy, { after: 'rule5', limit: 100 });
    await holds.countHolds(db, id, 1_000);
    await refusals.listRefusals(db, id, 20);
    await refusals.countRefusals(db, id, 1_000);
  },
  'measuring rules': (db) => readRuleHealth(db, 10_000),
  'writing a rule': async (db) => {
    await rules.lockRule(db, destinations.busy, 'rule1');
    await rules.countRules(db, destinations.busy, { ofDestination: 1_000, ofAll: 10_000 });
    await rules.insertRule(db, destinations.busy, 'new', written);
    await rules.updateRule(db, { ...written, id });
  },
  'ending a rule': async (db) => {
    await rules.endRule(db, seededId('rule2'), true);
    await rules.deleteRule(db, seededId('rule2'));
  },
  'a page of a rule': async (db) => {
    const lease = (await runs.claimRule(db))!;
    await holds.confirmHolds(db, rule, 'kv_1', [{ secretId, path }]);
    await runs.recordRuleProgress(db, lease, {
      phase: 'resting',
      position: '',
      matchedSoFar: 1,
      error: null,
      attempts: 0,
      retryInSeconds: 1,
    });
  },
  'the identity of an owner': async (db) => {
    await currentIdentity(db, { ...entity, entityId: seededId('entity7') }, 'r');
    await currentIdentity(db, { ...entity, entityId: null, accessor: 'accessor7' }, 'r');
  },
  'finding the rules of a path': async (db) => {
    await runs.listRulesOfPath(db, mount.id, beginningsOf(path));
    await runs.listRulesById(db, [id]);
    await holds.listHoldsOfSecret(db, secretId);
  },
  'holding an association': async (db) => {
    const [associationId] = await heldBy(db, 1);
    await holds.isRuleUnchanged(db, rule);
    await holds.lockHoldable(db, {
      destinationId: destinations.busy,
      accessor: 'kv_1',
      secretName: path,
      secretId,
    });
    await holds.addHolds(db, rule, [associationId!]);
    await holds.isHeldByRule(db, associationId!);
  },
  'associating a hundred secrets': async (db) => {
    const many = { destinationId: destinations.busy, accessor: 'kv_1' };
    const names = hundred.map((n) => `team7/batch${n}`);
    const [held, ...others] = await heldBy(db, 100);
    await lockAssociationsByName(db, many.destinationId, many.accessor, [...hundredPaths, ...names]);
    const place = { namespaceId: 'root', mountId: mount.id, mount: mount.path, byHand: false, naming: {} };
    const shape = { template: '', granularity: 'secret-path' };
    const secrets = names.map((secretName) => ({ secretName, secretId: randomUUID(), revision: 1 }));
    const ids = [...(await insertAssociations(db, { ...many, ...place, shape }, secrets)).values()];
    await holds.addHolds(db, rule, [held!, ...others, ...ids]);
    const entries = ids.map((associationId, n) => ({ associationId, ...entryOf(`batch${n}`) }));
    await namesTaken(
      db,
      many.destinationId,
      entries.map(({ collisionKey }) => collisionKey),
    );
    await insertEntriesOf(db, { ...many, destinationType: 'cloudA-sm' }, entries);
  },
  'refusing a hundred secrets': async (db) => {
    const refused = hundred.map((n) => ({ secretId: seededId(`secret${n}`), path: `p${n}`, reason: 'r' }));
    await refusals.upsertRefusals(
      db,
      id,
      refused.map((one) => ({ ...one, firstPauseSeconds: 60 })),
    );
    await refusals.deleteRefusals(
      db,
      id,
      refused.map((one) => one.secretId),
    );
  },
  'what holds associations': async (db) => holds.listHolders(db, await heldBy(db, 100), 20),
  'ending the hold of an association by hand': async (db) =>
    holds.endHoldByHand(db, (await heldBy(db, 1))[0]!),
  'a page of holds that end': async (db) => {
    const page = await holds.listHolds(db, rule, { after: seededId('x'), limit: 200 });
    const ids = page.map(({ associationId }) => associationId);
    await holds.endHolds(db, id, ids, true);
    await holds.listUnheld(db, ids);
  },
  'the plan of a rule': async (db) => {
    const matches = { destinationId: destinations.busy, accessor: 'kv_1', secrets: [{ secretId, path }] };
    await plans.countMatches(db, matches, id);
    await plans.listAssociationsOfMatches(db, matches, id);
    await plans.listHeldAssociations(db, id, { after: seededId('x'), limit: 200 });
  },
  'a page of refusals': async (db) => {
    await refusals.claimRefusals(db, 20);
    await refusals.isRefused(db, secretId);
    await refusals.upsertRefusals(db, id, [{ secretId, path, reason: 'r', firstPauseSeconds: 60 }]);
    await refusals.deleteRefusals(db, id, [secretId]);
  },
});

const secretsCases: Case[] = casesOf('secrets', {
  'a page of secrets for a rule': (db) =>
    matching.listPaths(db, mount.id, { a: 'b' }, { from: 'team7/', before: 'team70', after: '', limit: 500 }),
  'watching a hundred secrets': async (db) => {
    const ids = await watch.markPathsWatched(db, mount.id, hundredPaths);
    await watch.findReadable(db, [...ids.values()]);
  },
  'finding a mount by its ID': (db) => matching.findMountById(db, mount.id),
  'the places of secrets': (db) => matching.findPlaces(db, [secretId]),
  'creating a secret beside 10,000 rules': (db) =>
    insertVersion(db, mount, 'elsewhere/new', {
      secretId: randomUUID(),
      versionId: randomUUID(),
      sealed: Buffer.from('sealed'),
      cas: null,
      mayCreate: true,
      mayUpdate: true,
      onlyIf: null,
      traceparent: null,
    }),
  'changing the custom metadata of a secret beside 10,000 rules': (db) =>
    upsertMetadata(
      db,
      mount,
      path,
      { customMetadata: { a: 'b' } },
      { secretId: randomUUID(), mayCreate: true, mayUpdate: true, onlyIf: null },
    ),
});

export const ruleCases: Case[] = [...controlCases, ...secretsCases];
