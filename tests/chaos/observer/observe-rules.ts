import { openPostgres } from '../../../libs/db/src/index.ts';
import type { Ruled } from '../check/rules/holders.ts';
import { ruledMount } from '../load/rules/ruled.ts';

/** Looks at the rules in the database, at the secrets of their mount, and at what is associated in their destinations. */
export async function observeRules(url: string): Promise<Ruled> {
  const db = openPostgres({ url, connections: 1 });
  try {
    const secrets = await db.query<{ path: string; metadata: Record<string, string> | null }>(
      `select s.path, s.custom_metadata as metadata from secrets.secrets s join secrets.mounts m on m.id = s.mount_id
        where m.path = $1 and s.current_version > 0`,
      [ruledMount],
    );
    return {
      rules: await db.query(
        `select d.type || '/' || d.name as destination, r.name, r.path, r.metadata_match as "metadataMatch", r.phase = 'resting' as "isUpToDate"
           from sync.rules r join sync.destinations d on d.id = r.destination_id`,
      ),
      secrets: new Map(secrets.map(({ path, metadata }) => [path, metadata ?? {}])),
      associations: await db.query(
        `select d.type || '/' || d.name as destination, a.secret_name as key, a.by_hand as "byHand",
                array(select r.name from sync.rule_holds h join sync.rules r on r.id = h.rule_id where h.association_id = a.id) as rules
           from sync.associations a join sync.destinations d on d.id = a.destination_id where a.mount = $1`,
        [ruledMount],
      ),
      refused: (await db.query<{ path: string }>('select path from sync.rule_refusals')).map(
        ({ path }) => path,
      ),
    };
  } finally {
    await db.close();
  }
}
