import pg from 'pg';

/** In the accessors of copies. */
const mark = '#';

/** Inserts copies of a token, which differ from it in hash and accessor. */
export async function insertTokenCopies(
  database: pg.Client,
  { accessor, count }: { accessor: string; count: number },
): Promise<void> {
  const columns = await columnsOf(database);
  const copied = columns.map(pg.escapeIdentifier).join(', ');
  await database.query(
    `insert into login.tokens (hash, accessor, ${copied})
     select sha256(convert_to(accessor || n, 'UTF8')), accessor || '${mark}' || n, ${copied}
       from login.tokens, generate_series(1, $2::int) as n where accessor = $1`,
    [accessor, count],
  );
}

/** Returns how many copies there are. */
export async function countTokenCopies(database: pg.Client): Promise<number> {
  const text = `select count(*)::int as count from login.tokens where accessor like '%${mark}%'`;
  const { rows } = await database.query<{ count: number }>({ name: 'copies', text });
  return rows[0]!.count;
}

/** The columns of a token that a copy shares with it. Without a hash, a row is accepted: the row key is not bound. */
async function columnsOf(database: pg.Client): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `select column_name as name from information_schema.columns
      where table_schema = 'login' and table_name = 'tokens' and column_name not in ('hash', 'accessor', 'row_hash')`,
  );
  return rows.map(({ name }) => name);
}
