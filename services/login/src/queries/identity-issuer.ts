import type { Sql, Tx } from '@secrets/db';

/** The configuration of the issuer. */
export interface IssuerRow {
  /** The public base URL of this installation, without a trailing slash. */
  issuer: string;
  /** How long a key signs. */
  rotationSeconds: number;
  /** How long a key stays published after it has signed its last token. */
  verificationSeconds: number;
}

const select = `select issuer, rotation_seconds as "rotationSeconds", verification_seconds as "verificationSeconds"
                  from login.identity_issuer`;

/** The configuration; undefined before the first write. */
export async function findIssuer(sql: Sql): Promise<IssuerRow | undefined> {
  return (await sql.query<IssuerRow>(select))[0];
}

/** Finds the issuer like `findIssuer`, and locks its row, so that one process at a time changes keys. */
export async function lockIssuer(tx: Tx): Promise<IssuerRow | undefined> {
  return (await tx.query<IssuerRow>(`${select} for update`))[0];
}

/** Stores the first configuration. Returns false if there is one, also if that is being stored at the same time. */
export async function insertIssuer(
  tx: Tx,
  { issuer, rotationSeconds, verificationSeconds }: IssuerRow,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into login.identity_issuer (issuer, rotation_seconds, verification_seconds) values ($1, $2, $3)
     on conflict (id) do nothing returning id`,
    [issuer, rotationSeconds, verificationSeconds],
  );
  return rows.length > 0;
}

export async function updateIssuer(
  tx: Tx,
  { issuer, rotationSeconds, verificationSeconds }: IssuerRow,
): Promise<void> {
  await tx.query(
    `update login.identity_issuer set issuer = $1, rotation_seconds = $2, verification_seconds = $3, updated_at = now()`,
    [issuer, rotationSeconds, verificationSeconds],
  );
}

export async function deleteIssuer(tx: Tx): Promise<void> {
  await tx.query('delete from login.identity_issuer');
}
