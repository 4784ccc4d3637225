import { randomUUID } from 'node:crypto';
import { listAuthMounts, listPublicAuthMounts } from '../../../../secrets/src/queries/auth-mounts.ts';
import * as events from '../../../../secrets/src/queries/events/events.ts';
import { readBackupAge } from '../../../../secrets/src/queries/last-backup.ts';
import { listFolder } from '../../../../secrets/src/queries/list-folder.ts';
import { deleteMetadata, findMetadata, upsertMetadata } from '../../../../secrets/src/queries/metadata.ts';
import * as mountChanges from '../../../../secrets/src/queries/mounts/change-mounts.ts';
import {
  findMount,
  findMountAt,
  findMove,
  listMountRows,
  listPublicMountRows,
} from '../../../../secrets/src/queries/mounts/mounts.ts';
import {
  countExternalSecrets,
  deleteMount,
  enqueueWatched,
  listDisabledMounts,
  purgeSecrets,
} from '../../../../secrets/src/queries/mounts/purge.ts';
import { findDeepestNamespace } from '../../../../secrets/src/queries/namespaces.ts';
import { claimOutbox, deleteOutbox, releaseOutbox } from '../../../../secrets/src/queries/outbox.ts';
import { recordExpired } from '../../../../secrets/src/queries/versions/expiry.ts';
import { findVersion, findVersions } from '../../../../secrets/src/queries/versions/find-version.ts';
import { insertVersion, readWriteState } from '../../../../secrets/src/queries/versions/insert-version.ts';
import { insertVersions } from '../../../../secrets/src/queries/versions/insert-versions.ts';
import {
  deleteNewestVersion,
  updateVersions,
} from '../../../../secrets/src/queries/versions/update-versions.ts';
import * as watch from '../../../../secrets/src/queries/watch.ts';
import { type Case, casesOf, column, seededId } from './cases.ts';

const mount = { id: seededId('mount'), namespaceId: 'root', path: 'kv' };
const oldMount = seededId('old mount');
/** Ten versions, and one. */
const [path, otherPath] = ['team0/app100', 'team7/app7'];
const unconditional = { cas: null, mayCreate: true, mayUpdate: true, onlyIf: null };
const newVersion = () => ({
  ...unconditional,
  secretId: randomUUID(),
  versionId: randomUUID(),
  sealed: Buffer.from('sealed'),
  traceparent: null,
});
const ids = Array.from({ length: 500 }, (_, n) => seededId(`secret${n * 7 + 1}`));

const secretCases: Case[] = casesOf('secrets', {
  'reading the events of secrets': (db) => events.readEvents(db, { xid: 1n, id: 0n }, 500),
  'having changes recorded': (db) => events.keepListening(db),
  'waiting for older transactions': (db) => events.readHorizon(db),
  'reading the age of the newest backup': (db) => readBackupAge(db),
  'deleting old events': (db) => events.deleteOldEvents(db, 5_000),
  'reading a secret': (db) => findVersion(db, { mount, path, version: 0 }),
  'reading an older version': (db) => findVersion(db, { mount, path, version: 3 }),
  'reading several secrets': (db) =>
    findVersions(
      db,
      [0, 3].map((version) => ({ mount, path, version })),
      100,
    ),
  'creating a secret': (db) => insertVersion(db, mount, 'new', newVersion()),
  'updating a secret': (db) => insertVersion(db, mount, path, newVersion()),
  'updating several secrets': (db) =>
    insertVersions(
      db,
      [path, otherPath, 'new'].map((path) => ({ mount, path, given: newVersion() })),
    ),
  'explaining a refused write': (db) => readWriteState(db, mount, path),
  'deleting versions': (db) => updateVersions(db, mount, path, 'delete', [2, 3]),
  'undeleting versions': (db) => updateVersions(db, mount, path, 'undelete', [1, 2, 3]),
  'destroying versions': (db) => updateVersions(db, mount, path, 'destroy', [2, 3]),
  'deleting the newest version': (db) => deleteNewestVersion(db, mount, path),
  'reading metadata': (db) => findMetadata(db, mount, path),
  'changing metadata': (db) =>
    upsertMetadata(db, mount, path, { maxVersions: 3 }, { ...unconditional, secretId: randomUUID() }),
  'deleting a secret': (db) => deleteMetadata(db, mount, otherPath),
  'listing the top folder': (db) => listFolder(db, mount, '', { after: '', limit: 100 }),
  'listing a folder': (db) => listFolder(db, mount, 'team7', { after: 'app5', limit: 100 }),
  'watching a secret': async (db) => {
    await watch.lockEnabledMount(db, 'root', 'kv');
    await watch.markWatched(db, mount.id, otherPath);
  },
  'finding a secret by its path': (db) => watch.findSecretId(db, mount.id, otherPath),
  'looking for a folder': (db) => watch.isFolder(db, mount.id, 'team7'),
  'looking for a folder that does not exist': (db) => watch.isFolder(db, mount.id, 'nothing'),
  'inspecting a page of secrets': (db) => watch.findSecrets(db, ids),
  'marking secrets as watched again': (db) => watch.markAllWatched(db, ids),
  'reading the revisions of a page of secrets': (db) => watch.findRevisions(db, ids),
});

const mountCases: Case[] = casesOf('secrets', {
  'finding the mount of a request': (db) => findMountAt(db, 'root', ['kv', 'kv/a', 'kv/a/b']),
  'finding a mount': (db) => findMount(db, 'root', 'kv'),
  'listing mounts': (db) => listMountRows(db, 'root', { after: 'team3', limit: 100 }),
  'enabling a mount': async (db) => {
    await mountChanges.lockMounts(db, 'root');
    await mountChanges.findConflictingMount(db, 'root', 'new/kv', ['new']);
    await mountChanges.insertMount(db, 'root', 'new/kv', 'kv_new', {});
  },
  'moving a mount': async (db) => {
    const to = { path: 'new/kv', from: 'team3/kv', moveId: randomUUID() };
    const [moved] = await column(db, "select id as value from secrets.mounts where path = 'team3/kv'");
    await mountChanges.moveMountRow(db, moved!, to);
    await findMove(db, 'root', to.moveId);
  },
  'finding the namespace of a path': (db) => findDeepestNamespace(db, ['n7', 'n7/kv', 'n7/kv/a']),
  'listing auth mounts': (db) => listAuthMounts(db, 'root', 100),
  'listing mounts to everybody': (db) => listPublicMountRows(db, 'root', 100),
  'listing auth mounts to everybody': (db) => listPublicAuthMounts(db, 'root', 100),
  'changing a mount': (db) => mountChanges.updateMount(db, 'root', 'kv', { description: 'd' }),
  'disabling a mount': (db) => mountChanges.disableMountRow(db, 'root', 'kv'),
});

const backgroundCases: Case[] = casesOf('secrets', {
  'publishing a batch of changes': async (db) => {
    await deleteOutbox(db, await claimOutbox(db, 500));
  },
  'releasing changes that were not published': async (db) => {
    await releaseOutbox(db, await claimOutbox(db, 500));
  },
  'recording a page of expired versions': (db) => recordExpired(db, 500),
  'finding disabled mounts': (db) => listDisabledMounts(db),
  'counting the external secrets of a mount': (db) => countExternalSecrets(db, mount.id, 100),
  'announcing a page of a purge': (db) => enqueueWatched(db, oldMount, 1_000),
  'a page of a purge': (db) => purgeSecrets(db, oldMount, 200),
  'deleting a mount that still has secrets': (db) => deleteMount(db, oldMount),
  'deleting an empty mount': async (db) => {
    const [row] = await db.query<{ id: string }>('select id from secrets.mounts where path = $1', [
      'team2/kv',
    ]);
    await deleteMount(db, row!.id);
  },
});

/** The statements in services/secrets. */
export const secretsCases: Case[] = [...secretCases, ...mountCases, ...backgroundCases];
