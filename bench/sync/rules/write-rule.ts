import { randomUUID } from 'node:crypto';
import { encodeSecretData, versionAad } from '@secrets/domain';
import { encrypt, readKeyRing } from '@secrets/seal';
import { newValue, type SyncSetup, untilTrue } from '../sync-setup.ts';

/** Secrets that are inserted with one statement. */
const pageSize = 2_000;

/** The secrets below a folder of a mount. */
interface Folder {
  mount: string;
  folder: string;
}

const pathOf = (destination: string, { folder }: Folder) => `${destination}/rules/${folder}`;
const bodyOf = ({ mount, folder }: Folder) => ({ mount, path: `${folder}/*` });

/** Reads the first page of the plan of a rule. Returns its fingerprint. */
export async function planRule({ product }: SyncSetup, destination: string, folder: Folder): Promise<string> {
  const plan = await product.api('POST', `${pathOf(destination, folder)}/plan`, bodyOf(folder));
  return (plan as { data: { fingerprint: string } }).data.fingerprint;
}

/** Writes a rule about everything below a folder of a mount, and confirms what it associates. */
export async function writeRule(setup: SyncSetup, destination: string, folder: Folder): Promise<void> {
  const confirm = await planRule(setup, destination, folder);
  await setup.product.api('POST', pathOf(destination, folder), { ...bodyOf(folder), confirm });
}

/** Waits until the first run of a rule has ended. */
export const untilUpToDate = (setup: SyncSetup, folder: string): Promise<void> =>
  untilTrue(
    setup,
    `the rule ${folder} is up to date`,
    `exists (select from sync.rules where name = '${folder}' and last_run_at is not null)`,
  );

/** Creates secrets in a folder of a mount as the API does, without its requests. */
export async function insertSecrets(
  { product, database }: SyncSetup,
  { mount, folder, count }: { mount: string; folder: string; count: number },
): Promise<void> {
  const keyRing = readKeyRing(product.sealKeyFile);
  const { rows } = await database.query<{ id: string }>('select id from secrets.mounts where path = $1', [
    mount,
  ]);
  const mountId = rows[0]!.id;
  await database.query('set synchronous_commit = off');
  for (let start = 0; start < count; start += pageSize) {
    const page = Array.from({ length: Math.min(pageSize, count - start) }, (_, at) => {
      const path = `${folder}/app-${String(start + at).padStart(6, '0')}`;
      const versionId = randomUUID();
      const aad = versionAad({ mountId, path, versionId });
      const sealed = encrypt(keyRing, aad, encodeSecretData(newValue().data));
      return { id: randomUUID(), path, versionId, sealed };
    });
    await database.query(insert, [
      mountId,
      page.map(({ id }) => id),
      page.map(({ path }) => path),
      page.map(({ versionId }) => versionId),
      page.map(({ sealed }) => sealed),
    ]);
  }
  await database.query('set synchronous_commit = on');
  await database.query('vacuum (analyze) secrets.secrets, secrets.versions'); // as autovacuum does later
  await database.query('checkpoint'); // otherwise, the disk is still writing what was inserted
}

const insert = `
  with given as (select * from unnest($2::uuid[], $3::text[], $4::uuid[], $5::bytea[]) as g (id, path, version_id, sealed)
  ), added as (
    insert into secrets.secrets (id, mount_id, path, current_version) select id, $1, path, 1 from given returning id, created_at
  )
  insert into secrets.versions (id, secret_id, version, created_at, sealed)
  select g.version_id, g.id, 1, a.created_at, g.sealed from given g join added a on a.id = g.id`;
