import type { Db, Sql } from '@secrets/db';
import { type DatabaseService, databaseServices, roleOf } from '../database-roles.ts';
import { roleGrants } from './role-grants.ts';
import { scramVerifier } from './scram-verifier.ts';

const schemas = 'login, secrets, sync';

/**
 * Creates each service's role with its password and exactly the privileges of `roleGrants`: others are revoked in the same
 * transaction. May run at any time, while the services run. Only the owner of the database can create anything.
 */
export async function prepareRoles(db: Db, passwords: Record<DatabaseService, string>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock(hashtextextended('prepare roles', 0))");
    const database = await databaseName(tx);
    const known = await roleNames(tx);
    const statements = databaseServices.flatMap((service) => {
      const role = roleOf(service);
      return [
        ...(known.has(role) ? [] : [`create role ${role}`]),
        `alter role ${role} with login noinherit password '${scramVerifier(passwords[service])}'`,
        `grant connect on database ${database} to ${role}`,
        `revoke all on all tables in schema ${schemas} from ${role}`,
        `revoke all on schema ${schemas} from ${role}`,
        ...roleGrants[service].map((line) => privilegeStatement(line, role)),
      ];
    });
    await tx.script([...revokePublicPrivileges(database), ...statements].join(';\n'));
  });
}

const revokePublicPrivileges = (database: string): string[] => [
  `revoke all on database ${database} from public`,
  'revoke all on schema public from public',
];

const privilegeStatement = (line: string, role: string): string =>
  line.startsWith('!') ? `revoke ${line.slice(1)} from ${role}` : `grant ${line} to ${role}`;

async function databaseName(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ name: string }>('select quote_ident(current_database()) as name');
  return row!.name;
}

async function roleNames(sql: Sql): Promise<Set<string>> {
  const rows = await sql.query<{ name: string }>('select rolname as name from pg_roles');
  return new Set(rows.map(({ name }) => name));
}
