import type { Db } from '@secrets/db';

/** Inserts associations of one entry each into a destination, and returns its ID. The entries are synced or have failed. */
export async function insertMany(
  db: Db,
  { destination, count, status }: { destination: string; count: number; status: string },
): Promise<string> {
  const [row] = await db.query<{ id: string }>('select id from sync.destinations where name = $1', [
    destination,
  ]);
  const { id } = row!;
  await db.query(
    `insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     select $1, 'root', gen_random_uuid(), 'many', 'kv_many', gen_random_uuid(), 'many' || number, 1
       from generate_series(1, $2::int) as number`,
    [id, count],
  );
  await db.query(
    `insert into sync.entries (association_id, destination_id, destination_type, external_name, collision_key, status,
                               applied_generation, due_at)
     select a.id, a.destination_id, d.type, secret_name, secret_name, $2, 1, null
       from sync.associations a join sync.destinations d on d.id = a.destination_id
      where a.destination_id = $1 and a.mount = 'many'`,
    [id, status],
  );
  return id;
}
