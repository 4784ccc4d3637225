import type { Sql } from '@secrets/db';
import pg from 'pg';

/** Opens a pool of ten connections that prepares every statement. */
export function bareSql(url: string): Sql {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `statement ${names.size}`;
    names.set(text, name);
    return name;
  };
  return {
    query: async <Row>(text: string, params: readonly unknown[] = []) =>
      (await pool.query({ name: nameOf(text), text, values: [...params] })).rows as Row[],
  };
}
