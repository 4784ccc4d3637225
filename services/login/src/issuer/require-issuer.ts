import type { Sql } from '@secrets/db';
import { notFound } from '@secrets/domain';
import { findIssuer, type IssuerRow } from '../queries/identity-issuer.ts';

export const issuerNotConfigured = () =>
  notFound('the identity token issuer is not configured: set issuer in identity/oidc/config');

/** The configuration of the issuer. Throws `not_found` if there is none. */
export async function requireIssuer(sql: Sql): Promise<IssuerRow> {
  const row = await findIssuer(sql);
  if (row === undefined) throw issuerNotConfigured();
  return row;
}
