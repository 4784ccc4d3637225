import type { Db, Params, Sql } from '@secrets/db';

/** The process has died. */
export class Died extends Error {}

/**
 * The database of a process that dies after a number of statements and commits: what was not committed until then is rolled back,
 * and every later statement fails.
 */
export function mortalDb(db: Db, statements: number): Db {
  let left = statements;
  const live = () => {
    left -= 1;
    if (left < 0) throw new Died('the process has died');
  };
  const query =
    (sql: Sql): Sql['query'] =>
    async <Row>(text: string, params?: Params) => {
      live();
      return sql.query<Row>(text, params);
    };
  return {
    ...db,
    query: query(db),
    transaction: (work, options) =>
      db.transaction(async (tx) => {
        const result = await work({ query: query(tx), script: tx.script });
        live();
        return result;
      }, options),
  };
}
