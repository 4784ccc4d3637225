import type { Sql } from '@secrets/db';

/** The application as which destinations sign in at a code host. */
interface CodehostApp {
  /** The ID that the code host has given it. */
  appId: number;
  sealedPrivateKey: Uint8Array;
  /** The only server that may receive its signature; empty for the public service. */
  enterpriseUrl: string;
}

/** Returns an application; undefined if it was deleted. Only the worker of the code host may call this. */
export async function readCodehostApp(sql: Sql, id: string): Promise<CodehostApp | undefined> {
  const [app] = await sql.query<CodehostApp>(
    `select app_id as "appId", sealed_private_key as "sealedPrivateKey", enterprise_url as "enterpriseUrl"
       from sync.codehost_apps where id = $1`,
    [id],
  );
  return app;
}
